-- Reminders of one context. A prelude. Their JSON is never decoded, because ids would become doubles. No text in it can
-- contain the marks that are searched here: quotation marks are escaped.

-- Store a reminder and queue it for its date. keys: reminders, due
local function put_reminder(keys, context, id, json)
  redis.call('HSET', keys.reminders, id, json)
  redis.call('ZADD', keys.due, string.match(json, '"due_at":([%d.eE+-]+)'), context .. ' ' .. id)
end

-- Delete a reminder. Return 1 if it existed, else 0. keys: reminders, due
local function drop_reminder(keys, context, id)
  redis.call('ZREM', keys.due, context .. ' ' .. id)
  return redis.call('HDEL', keys.reminders, id)
end
