-- Lets a person in for an invitation that nobody has used.
-- KEYS: invitation, guests, tries of this person. ARGV: user id, digest, now, tries at most, TTL of the tries (s).
-- Gives "accepted" (also to who was let in by this very invitation, or by another one, which leaves this one unused),
-- "invalid", or after too many of these "later" once, and then "silent".
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then
  return 'accepted'
end
local tried, most = tonumber(redis.call('GET', KEYS[3]) or 0), tonumber(ARGV[4])
if tried >= most or redis.call('DEL', KEYS[1]) == 0 then
  redis.call('INCR', KEYS[3])
  if redis.call('TTL', KEYS[3]) < 0 then
    redis.call('EXPIRE', KEYS[3], ARGV[5])
  end
  return tried < most and 'invalid' or tried == most and 'later' or 'silent'
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3] .. ':' .. ARGV[2])
redis.call('DEL', KEYS[3])
return 'accepted'
