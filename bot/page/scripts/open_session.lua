-- Use up the link to the operators' page, and open a session. Of two calls with one link only the first opens one.
-- KEYS: link sessions
-- ARGV: session now:number ttl:number most:number
-- Returns 1 opened, 0 no such link (any more)
if redis.call('DEL', link) == 0 then
  return 0
end
redis.call('ZREMRANGEBYSCORE', sessions, '-inf', now)
redis.call('ZADD', sessions, now + ttl, session)
redis.call('ZREMRANGEBYRANK', sessions, 0, -1 - most)
redis.call('EXPIRE', sessions, ttl)
return 1
