-- Append messages to one context, each once. A prelude, after telegram_index.lua and people.lua. The script that
-- includes it has checked the epoch already: nothing is checked here.

-- Read messages out of ARGV as `message_arguments` (memory/history/redis_history.py) writes them: their number at
-- `first`, three limits, then seven strings each. Returns the list that append_messages takes, and the index after it.
local function read_messages(arguments, first)
  local list = {
    people_limit = tonumber(arguments[first + 1]),
    session_gap = tonumber(arguments[first + 2]),
    session_messages = tonumber(arguments[first + 3]),
  }
  local at = first + 4
  for _ = 1, tonumber(arguments[first]) do
    list[#list + 1] = {
      id = arguments[at],
      json = arguments[at + 1],
      telegram_id = arguments[at + 2],
      is_indexed = arguments[at + 3],
      sent_at = arguments[at + 4],
      sender_id = arguments[at + 5],
      sender_name = arguments[at + 6],
    }
    at = at + 7
  end
  return list, at
end

-- Whether a message of the conversation begins a session (limits: memory/history/sessions.py); one that is older than the newest
-- does only where the session is full.
-- session: {start, last_sent_at} of the newest one, of which both are nil before the first.
local function begins_session(session, sequence, sent_at, limits)
  return not session.start
    or sent_at - session.last_sent_at >= limits.session_gap
    or sequence - session.start >= limits.session_messages
end

-- keys: messages, order, telegram, meta, work, people, senders, sessions, as in memory/keys.py
-- context_id, epoch: written into the index work, so that a late vector can be told
-- now: Unix seconds; the context's created_at if these are its first messages
-- list: of `read_messages`: {{id, json, telegram_id or '', is_indexed = '1' or '0', sent_at, sender_id or '',
--       sender_name}, ...} with its limits; json is stored as it is, never decoded
-- Returns the messages' sequences. An id that is present already keeps its message and its sequence.
local function append_messages(keys, context_id, epoch, now, list)
  local messages_key, order_key, telegram_key, meta_key, work_key, people_key, senders_key, sessions_key = unpack(keys)
  local kept = redis.call('HMGET', meta_key, 'session_start', 'last_sent_at')
  local session = { start = tonumber(kept[1]), last_sent_at = tonumber(kept[2]) }
  local sequences, newer = {}, {}
  for number, message in ipairs(list) do
    local present = redis.call('ZSCORE', order_key, message.id)
    if present then
      sequences[number] = tonumber(present)
    else
      local sequence = redis.call('HINCRBY', meta_key, 'next_sequence', 1) - 1
      redis.call('HSET', messages_key, message.id, message.json)
      redis.call('ZADD', order_key, sequence, message.id)
      if message.telegram_id ~= '' then
        link_telegram(telegram_key, message.id, message.telegram_id)
      end
      link_quote(telegram_key, message.id, message.json)
      if message.sender_id ~= '' then
        count_sender(people_key, senders_key, meta_key, message.sender_id, message.sender_name, sequence,
                     list.people_limit)
      end
      if message.is_indexed == '1' then
        local sent_at = tonumber(message.sent_at)
        if begins_session(session, sequence, sent_at, list) then
          session.start, newer.session_start = sequence, sequence
          redis.call('ZADD', sessions_key, sequence, sequence)
        end
        if not session.last_sent_at or sent_at > session.last_sent_at then
          session.last_sent_at, newer.last_sent_at = sent_at, message.sent_at
        end
        redis.call('XADD', work_key, '*', 'op', 'index', 'context', context_id, 'epoch', epoch,
                   'id', message.id)
      end
      sequences[number] = sequence
    end
  end
  for field, value in pairs(newer) do
    redis.call('HSET', meta_key, field, value)
  end
  if #list > 0 then
    redis.call('HSETNX', meta_key, 'created_at', now)
  end
  return sequences
end
