-- Others are begun beside a context from now on: what its worker may die of is no proof against its update any more. It is
-- noted also where the update is not begun yet (the store was away, or full): `take` looks.
-- USES: fence
-- KEYS: ready box
-- ARGV: fence:json prefix
-- Returns 1 held, 0 lost
if not is_held(ready, fence) then
  return 0
end
for _, id in ipairs(redis.call('ZRANGE', box, 0, -1)) do
  redis.call('HDEL', prefix .. id, 'alone')  -- first: a full server refuses a script at its first write, if it adds
  redis.call('HSET', prefix .. id, 'beside', fence.entry .. ':' .. fence.delivery)
end
return 1
