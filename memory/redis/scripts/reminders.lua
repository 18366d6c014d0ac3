-- Reminders of one context. A prelude.
-- USES: records

-- Store a reminder and queue it for its date. keys: reminders, due
local function put_reminder(keys, context, id, record)
  redis.call('HSET', keys.reminders, id, record)
  redis.call('ZADD', keys.due, fields_of(record).due_at, context .. ' ' .. id)
end

-- Return the ids of the reminders that one of these messages asked for.
local function reminders_of(key, messages)
  local found, is_sought, records = {}, {}, redis.call('HGETALL', key)
  for _, message in ipairs(messages) do is_sought[message] = true end
  for at = 1, #records, 2 do
    local asking = false
    for _, id in ipairs(fields_of(records[at + 1]).message_ids or {}) do
      asking = asking or is_sought[id]
    end
    found[#found + 1] = asking and records[at] or nil
  end
  return found
end

-- Delete a reminder. Return 1 if it existed, else 0. keys: reminders, due
local function drop_reminder(keys, context, id)
  redis.call('ZREM', keys.due, context .. ' ' .. id)
  return redis.call('HDEL', keys.reminders, id)
end
