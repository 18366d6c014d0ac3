-- Put other parts in place of the outbox's first one.
-- USES: fence
-- KEYS: ready outbox sending
-- ARGV: fence:json part begun instead...
-- begun: the sends of the first new part, in any form, that have an unknown outcome
-- Returns ok | fenced | gone (the outbox was erased meanwhile)
if not is_held(ready, fence) then
  return 'fenced'
end
local first = redis.call('LINDEX', outbox, 0)
if first == instead[1] then
  return 'ok'  -- the second try of a replacement that was done
end
if first ~= part then
  return 'gone'
end
redis.call('LPOP', outbox)
for i = #instead, 1, -1 do
  redis.call('LPUSH', outbox, instead[i])
end
redis.call('SET', sending, begun)
return 'ok'
