-- Book the usage of a turn, once in all its tries: its person's, its chat's and everybody's, of the day and the month.
-- KEYS: booked user_day chat_day all_day month
-- ARGV: usage:json rankings:json
-- usage: prompt, completion, tokens, micros, ttl, month_ttl; in digits, because Lua would write a large number as 1e+8
-- rankings: key, amount and owner, for each ranking of the month; its double is exact up to 2^53
if not redis.call('SET', booked, 1, 'NX', 'EX', usage.ttl) then return 0 end
for _, day in ipairs({ user_day, chat_day, all_day }) do
  redis.call('HINCRBY', day, 'prompt', usage.prompt)
  redis.call('HINCRBY', day, 'completion', usage.completion)
  redis.call('HINCRBY', day, 'micros', usage.micros)
  if redis.call('TTL', day) < 0 then redis.call('EXPIRE', day, usage.ttl) end
end
redis.call('HINCRBY', month, 'tokens', usage.tokens)
redis.call('HINCRBY', month, 'micros', usage.micros)
redis.call('EXPIRE', month, usage.month_ttl)
for _, ranking in ipairs(rankings) do
  redis.call('ZINCRBY', ranking[1], ranking[2], ranking[3])
  redis.call('EXPIRE', ranking[1], usage.month_ttl)
end
return 1
