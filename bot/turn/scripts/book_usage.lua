-- Book the usage of a turn, once in all its tries: its person's, its chat's and everybody's, of the day and the month.
-- KEYS: booked
-- ARGV: ttl month_ttl amounts:json rankings:json
-- amounts: key, field, amount in digits, because Lua would write a large number as 1e+8, and seconds that a new key lives
-- rankings: key, amount and owner, for each ranking of the month; its double is exact up to 2^53
if not redis.call('SET', booked, 1, 'NX', 'EX', ttl) then return end
for _, each in ipairs(amounts) do
  redis.call('HINCRBY', each[1], each[2], each[3])
  if redis.call('TTL', each[1]) < 0 then redis.call('EXPIRE', each[1], each[4]) end
end
for _, ranking in ipairs(rankings) do
  redis.call('ZINCRBY', ranking[1], ranking[2], ranking[3])
  redis.call('EXPIRE', ranking[1], month_ttl)
end
