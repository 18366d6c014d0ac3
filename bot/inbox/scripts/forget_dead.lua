-- Forget dead letters of one context: their texts go, their records stay for a while. Repeating is harmless.
-- USES: fence
-- KEYS: dead erasures
-- ARGV: context_id update_prefix now ttl ids...
-- Returns how many there were
local forgotten = 0
for _, id in ipairs(ids) do
  local key = update_prefix .. id
  if redis.call('HGET', key, 'context') == context_id and redis.call('ZREM', dead, id) == 1 then
    finish_update(key, 'forgotten', 'its sender had it forgotten', now, ttl)
    forgotten = forgotten + 1
  end
end
if forgotten > 0 then
  redis.call('INCR', erasures)
end
return forgotten
