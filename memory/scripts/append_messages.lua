-- Append messages to one context, each once. A prelude, after telegram_index.lua. The script that includes
-- it has checked the epoch already: nothing is checked here.

-- Read messages out of ARGV as `message_arguments` (memory/redis_history.py) writes them: their number at
-- `first`, then four strings each. Returns the list that append_messages takes, and the index after it.
local function read_messages(arguments, first)
  local list = {}
  local at = first + 1
  for _ = 1, tonumber(arguments[first]) do
    list[#list + 1] = {
      id = arguments[at],
      json = arguments[at + 1],
      telegram_id = arguments[at + 2],
      is_indexed = arguments[at + 3],
    }
    at = at + 4
  end
  return list, at
end

-- messages_key, order_key, telegram_key, meta_key, work_key: as in memory/keys.py
-- context_id, epoch: written into the index work, so that a late vector can be told
-- now: Unix seconds; the context's created_at if these are its first messages
-- list: {{id, json, telegram_id or '', is_indexed = '1' or '0'}, ...}; json is stored as it is, never decoded
-- Returns the messages' sequences. An id that is present already keeps its message and its sequence.
local function append_messages(messages_key, order_key, telegram_key, meta_key, work_key,
                               context_id, epoch, now, list)
  local sequences = {}
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
      if message.is_indexed == '1' then
        redis.call('XADD', work_key, '*', 'op', 'index', 'context', context_id, 'epoch', epoch,
                   'id', message.id)
      end
      sequences[number] = sequence
    end
  end
  if #list > 0 then
    redis.call('HSETNX', meta_key, 'created_at', now)
  end
  return sequences
end
