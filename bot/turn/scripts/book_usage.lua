-- Books what a turn used, once however often it is resumed.
-- KEYS: booked, then the days that it counts in (user, chat, all). ARGV: TTL (s), prompt tokens, completion tokens, micros.
if not redis.call('SET', KEYS[1], 1, 'NX', 'EX', ARGV[1]) then
  return 0
end
for at = 2, #KEYS do
  redis.call('HINCRBY', KEYS[at], 'prompt', ARGV[2])
  redis.call('HINCRBY', KEYS[at], 'completion', ARGV[3])
  redis.call('HINCRBY', KEYS[at], 'micros', ARGV[4])
  if redis.call('TTL', KEYS[at]) < 0 then
    redis.call('EXPIRE', KEYS[at], ARGV[1])
  end
end
return 1
