-- Forget dead letters of one context: what they say goes, their records stay for a while. Repeating is harmless.
-- KEYS dead, erasures   ARGV 1 context, 2 prefix of update keys, 3 now, 4 seconds to keep a finished record, 5 … update ids
-- Returns how many there were
local context, prefix, now, ttl = unpack(ARGV, 1, 4)
local forgotten = 0
for at = 5, #ARGV do
  local key = prefix .. ARGV[at]
  if redis.call('HGET', key, 'context') == context and redis.call('ZREM', KEYS[1], ARGV[at]) == 1 then
    finish_update(key, 'forgotten', 'its sender had it forgotten', now, ttl)
    forgotten = forgotten + 1
  end
end
if forgotten > 0 then
  redis.call('INCR', KEYS[2])
end
return forgotten
