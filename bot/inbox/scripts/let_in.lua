-- Others are begun beside a context from now on: what its worker may die of is no proof against its update any more. It is
-- noted also where the update is not begun yet (the store was away, or full): `take` looks.
-- KEYS ready, box   ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 prefix of update keys   Returns 1 held, 0 lost
local group, consumer, entry, delivery, prefix = unpack(ARGV)
if not is_held(KEYS[1], group, consumer, entry, delivery) then
  return 0
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  redis.call('HDEL', prefix .. id, 'alone')  -- first: a full server refuses a script at its first write, if it adds
  redis.call('HSET', prefix .. id, 'beside', entry .. ':' .. delivery)
end
return 1
