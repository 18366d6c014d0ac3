-- Forget waiting updates of one context: a turn that answers one of them commits nothing. Repeating is harmless.
-- USES: fence
-- KEYS: box erasures
-- ARGV: context_id update_prefix now ttl ids...
-- Returns how many there were
local forgotten = 0
for _, id in ipairs(ids) do
  if redis.call('ZREM', box, id) == 1 then
    finish_update(update_prefix .. id, 'forgotten', 'its sender was forgotten', now, ttl)
    forgotten = forgotten + 1
  end
end
if forgotten > 0 then
  redis.call('INCR', erasures)
end
return forgotten
