-- Count a turn in the minute of its user and chat unless a limit is reached. A counted turn stays counted.
-- KEYS: user_minute chat_minute limit_told
-- ARGV: rules:json sums:json updates...
-- rules: now, window (seconds that a message counts), and the limits user_messages and chat_messages; 0 is no limit
-- sums: {name of the limit, key of a record, its fields, limit of their sum, seconds until it is free}, …
-- Returns {''} or {the reached limit ("user_messages" …), seconds until it is free, 1 if the chat should be told}
local newest, now, window = updates[#updates], rules.now, rules.window

local function refuse(limit, wait)
  local told_for = redis.call('GET', limit_told)
  if not told_for then redis.call('SET', limit_told, newest, 'EX', window) end
  return { limit, math.ceil(wait), (not told_for or told_for == newest) and 1 or 0 }
end

if redis.call('ZSCORE', user_minute, newest) or redis.call('ZSCORE', chat_minute, newest) then
  return { '' }
end
for _, each in ipairs(sums) do
  local name, record, fields, limit, wait = unpack(each)
  local used = 0
  for _, field in ipairs(fields) do used = used + (redis.call('HGET', record, field) or 0) end
  if used >= limit then return refuse(name, wait) end
end
local minutes = { { user_minute, 'user_messages' }, { chat_minute, 'chat_messages' } }
for _, each in ipairs(minutes) do
  local minute, limit = each[1], rules[each[2]]
  redis.call('ZREMRANGEBYSCORE', minute, '-inf', now - window)
  if limit > 0 and redis.call('ZCARD', minute) >= limit then
    -- Free again when fewer than the limit are left: a turn of many messages may have exceeded it.
    local freeing = redis.call('ZRANGE', minute, -limit, -limit, 'WITHSCORES')
    return refuse(each[2], math.max(1, tonumber(freeing[2]) + window - now))
  end
end
for _, each in ipairs(minutes) do
  if rules[each[2]] > 0 then
    for _, update in ipairs(updates) do redis.call('ZADD', each[1], now, update) end
    redis.call('EXPIRE', each[1], window)
  end
end
return { '' }
