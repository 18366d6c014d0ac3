-- Forget waiting updates and dead letters of one context: their texts go, their records stay for a while.
-- A turn that answers one of them commits nothing. Repeating is harmless.
-- USES: fence
-- KEYS: box dead erasures update
-- ARGV: context_id now ids...
local has_forgotten = false
for _, id in ipairs(ids) do
  local key = update .. ':' .. id
  if redis.call('ZREM', box, id) == 1
    or (redis.call('HGET', key, 'context') == context_id and redis.call('ZREM', dead, id) == 1) then
    finish_update(key, 'forgotten', 'its sender had it forgotten', now)
    has_forgotten = true
  end
end
if has_forgotten then redis.call('INCR', erasures) end
