-- Reminders of one context. A prelude. Their JSON is never decoded, because ids would become doubles. No text in it can
-- contain the marks that are searched here: quotation marks are escaped.

-- Store a reminder and queue it for its date. keys: reminders, due
local function put_reminder(keys, context, id, json)
  redis.call('HSET', keys.reminders, id, json)
  redis.call('ZADD', keys.due, string.match(json, '"due_at":([%d.eE+-]+)'), context .. ' ' .. id)
end

-- Return the ids of the reminders that one of these messages asked for.
local function reminders_of(key, messages)
  local found, asked, lines = {}, {}, redis.call('HGETALL', key)
  for _, message in ipairs(messages) do
    asked[message] = true
  end
  for at = 1, #lines, 2 do
    for id in string.gmatch(string.match(lines[at + 1], '"message_ids":%[([^%]]*)%]') or '', '[^",]+') do
      if asked[id] then
        found[#found + 1] = lines[at]
        break
      end
    end
  end
  return found
end

-- Delete a reminder. Return 1 if it existed, else 0. keys: reminders, due
local function drop_reminder(keys, context, id)
  redis.call('ZREM', keys.due, context .. ' ' .. id)
  return redis.call('HDEL', keys.reminders, id)
end
