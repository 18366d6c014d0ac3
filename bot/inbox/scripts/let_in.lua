-- Others are begun beside a context from now on: what its worker may die of is no proof against its update any more.
-- KEYS ready, box   ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 prefix of update keys   Returns 1 held, 0 lost
local group, consumer, entry, delivery, prefix = unpack(ARGV)
if not is_held(KEYS[1], group, consumer, entry, delivery) then
  return 0
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  redis.call('HDEL', prefix .. id, 'alone')
end
return 1
