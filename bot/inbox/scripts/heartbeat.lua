-- A sign of life for one entry. JUSTID keeps the delivery count; checking the owner first keeps a worker that
-- slept too long from stealing the entry back.
-- KEYS ready   ARGV 1 group, 2 consumer, 3 entry, 4 delivery   Returns 1 held, 0 lost
local group, consumer, entry, delivery = unpack(ARGV)
if not is_held(KEYS[1], group, consumer, entry, delivery) then
  return 0
end
redis.call('XCLAIM', KEYS[1], group, consumer, 0, entry, 'JUSTID')
return 1
