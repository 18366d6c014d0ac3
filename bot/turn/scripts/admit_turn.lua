-- Count a turn in the minute of its user and chat unless a limit is reached. A counted turn stays counted.
-- KEYS: user_minute user_day chat_minute chat_day limit_told
-- ARGV: rules:json updates...
-- rules: now, window (seconds that a message counts), day_ends and month_ends (seconds until then), month (the key of
--        its sums), and the limits user_messages, user_tokens, user_micros, chat_messages, chat_tokens, chat_micros,
--        all_micros (of the month); 0 is no limit
-- Returns {''} or {the reached limit ("user_messages" …), seconds until it is free, 1 if the chat should be told}
local newest, now, window, day_ends = updates[#updates], rules.now, rules.window, rules.day_ends

local function refuse(limit, wait)
  local told_for = redis.call('GET', limit_told)
  if not told_for then redis.call('SET', limit_told, newest, 'EX', window) end
  return { limit, math.ceil(wait), (not told_for or told_for == newest) and 1 or 0 }
end

local function used(record, field)
  return tonumber(redis.call('HGET', record, field) or 0)
end

if redis.call('ZSCORE', user_minute, newest) or redis.call('ZSCORE', chat_minute, newest) then
  return { '' }
end
local budget = rules.all_micros
if budget > 0 and used(rules.month, 'micros') + used(rules.month, 'memory_micros') >= budget then
  return refuse('all_money', rules.month_ends)
end
local owners = {
  { kind = 'user', minute = user_minute, day = user_day },
  { kind = 'chat', minute = chat_minute, day = chat_day },
}
for _, owner in ipairs(owners) do
  local messages, tokens = rules[owner.kind .. '_messages'], rules[owner.kind .. '_tokens']
  local micros = rules[owner.kind .. '_micros']
  redis.call('ZREMRANGEBYSCORE', owner.minute, '-inf', now - window)
  if messages > 0 and redis.call('ZCARD', owner.minute) >= messages then
    -- Free again when fewer than the limit are left: a turn of many messages may have exceeded it.
    local freeing = redis.call('ZRANGE', owner.minute, -messages, -messages, 'WITHSCORES')
    return refuse(owner.kind .. '_messages', math.max(1, tonumber(freeing[2]) + window - now))
  end
  if tokens > 0 and used(owner.day, 'prompt') + used(owner.day, 'completion') >= tokens then
    return refuse(owner.kind .. '_tokens', day_ends)
  end
  if micros > 0 and used(owner.day, 'micros') >= micros then
    return refuse(owner.kind .. '_money', day_ends)
  end
end
for _, owner in ipairs(owners) do
  if rules[owner.kind .. '_messages'] > 0 then
    for _, update in ipairs(updates) do redis.call('ZADD', owner.minute, now, update) end
    redis.call('EXPIRE', owner.minute, window)
  end
end
return { '' }
