-- Append messages to one context. A prelude; its script has checked the epoch.
-- USES: telegram_index people

-- Return true if a message of the conversation begins a session. A message that is older than the newest one begins
-- a session only if the current session is full.
-- session: {start, last_sent_at} of the newest session, both nil before the first one.
local function begins_session(session, sequence, sent_at, batch)
  return not session.start
    or sent_at - session.last_sent_at >= batch.session_gap_s
    or sequence - session.start >= batch.session_messages
end

-- keys: messages, order, telegram, meta, work, people, senders, sessions
-- context_id, epoch: written into the index work, so that a late vector can be recognised
-- now: Unix seconds; becomes the context's created_at with its first messages
-- batch: MessageBatch (memory/history/redis_history.py); a row's json is stored as it is, never decoded
-- Return the messages' sequences. A message whose id is present keeps its text and its sequence.
local function append_messages(keys, context_id, epoch, now, batch)
  local stored = redis.call('HMGET', keys.meta, 'session_start', 'last_sent_at')
  local session = { start = tonumber(stored[1]), last_sent_at = tonumber(stored[2]) }
  local sequences, newer = {}, {}
  for number, row in ipairs(batch.rows) do
    local sequence = tonumber(redis.call('ZSCORE', keys.order, row.id))
    if not sequence then
      sequence = redis.call('HINCRBY', keys.meta, 'next_sequence', 1) - 1
      redis.call('HSET', keys.messages, row.id, row.json)
      redis.call('ZADD', keys.order, sequence, row.id)
      if row.telegram_id ~= '' then link_telegram(keys.telegram, row.id, row.telegram_id) end
      if row.quotes ~= '' then add_word(keys.telegram, 'q:' .. row.quotes, row.id) end
      if row.sender_id ~= '' then
        count_sender(keys, row.sender_id, row.sender_name, batch.people_limit)
      end
      if row.is_indexed then
        if begins_session(session, sequence, row.sent_at, batch) then
          session.start, newer.session_start = sequence, sequence
          redis.call('ZADD', keys.sessions, sequence, sequence)
        end
        if not session.last_sent_at or row.sent_at > session.last_sent_at then
          session.last_sent_at, newer.last_sent_at = row.sent_at, row.sent_at
        end
        redis.call('XADD', keys.work, '*', 'op', 'new', 'context', context_id, 'epoch', epoch, 'id', row.id)
      end
    end
    sequences[number] = sequence
  end
  for field, value in pairs(newer) do redis.call('HSET', keys.meta, field, value) end
  if #batch.rows > 0 then redis.call('HSETNX', keys.meta, 'created_at', now) end
  return sequences
end
