-- Accept an invitation that nobody has used.
-- KEYS: invitation guests tries unused
-- ARGV: user_id entry tries_at_most:json
-- entry: the time, a colon, and the digest of the invitation
-- Returns "accepted" (also for a guest, whose invitation stays unused), "invalid", after `count` of these "later" once,
-- and then "silent". `tries` counts the invalid ones and lives `ttl` seconds from the first.
if redis.call('HEXISTS', guests, user_id) == 1 then return 'accepted' end
local most = tries_at_most.count
local tried = tonumber(redis.call('GET', tries) or 0)
if tried >= most or redis.call('DEL', invitation) == 0 then
  redis.call('INCR', tries)
  if redis.call('TTL', tries) < 0 then redis.call('EXPIRE', tries, tries_at_most.ttl) end
  return tried < most and 'invalid' or tried == most and 'later' or 'silent'
end
redis.call('HSET', guests, user_id, entry)
redis.call('DEL', tries)
redis.call('ZREM', unused, string.match(entry, ':(.*)$'))
return 'accepted'
