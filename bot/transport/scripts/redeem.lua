-- Accept an invitation that nobody has used.
-- KEYS: invitation guests tries
-- ARGV: user_id entry most:number ttl
-- Returns "accepted" (also for a guest, whose invitation stays unused), "invalid", after `most` of these "later" once,
-- and then "silent". `tries` counts the invalid ones and lives `ttl` seconds from the first.
if redis.call('HEXISTS', guests, user_id) == 1 then
  return 'accepted'
end
local tried = tonumber(redis.call('GET', tries) or 0)
if tried >= most or redis.call('DEL', invitation) == 0 then
  redis.call('INCR', tries)
  if redis.call('TTL', tries) < 0 then
    redis.call('EXPIRE', tries, ttl)
  end
  return tried < most and 'invalid' or tried == most and 'later' or 'silent'
end
redis.call('HSET', guests, user_id, entry)
redis.call('DEL', tries)
return 'accepted'
