-- Book the usage of a turn, once in all its tries.
-- KEYS: booked user_day chat_day all_day
-- ARGV: usage:json
-- usage: prompt, completion, micros, ttl; in digits, because Lua would write a large number as 1e+8
if not redis.call('SET', booked, 1, 'NX', 'EX', usage.ttl) then
  return 0
end
for _, day in ipairs({ user_day, chat_day, all_day }) do
  redis.call('HINCRBY', day, 'prompt', usage.prompt)
  redis.call('HINCRBY', day, 'completion', usage.completion)
  redis.call('HINCRBY', day, 'micros', usage.micros)
  if redis.call('TTL', day) < 0 then
    redis.call('EXPIRE', day, usage.ttl)
  end
end
return 1
