-- Count a send of the outbox's first part: begun (+1), or surely not sent after all (-1).
-- KEYS ready, outbox, sending   ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 the part, 6 +1 or -1
-- Returns fenced, gone (the outbox was erased meanwhile), or the number of sends begun whose outcome is open
local group, consumer, entry, delivery, part, change = unpack(ARGV)
if not is_held(KEYS[1], group, consumer, entry, delivery) then
  return 'fenced'
end
if redis.call('LINDEX', KEYS[2], 0) ~= part then
  return 'gone'
end
return tostring(redis.call('INCRBY', KEYS[3], change))
