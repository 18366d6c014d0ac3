-- Put other parts in the place of the outbox's first one. No send of them was begun.
-- KEYS ready, outbox, sending   ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 the part, then the parts in its place
-- Returns ok | fenced | gone (the outbox was erased meanwhile)
local group, consumer, entry, delivery, part = unpack(ARGV, 1, 5)
if not is_held(KEYS[1], group, consumer, entry, delivery) then
  return 'fenced'
end
local first = redis.call('LINDEX', KEYS[2], 0)
if first == ARGV[6] then
  return 'ok'  -- a second try of what went through
end
if first ~= part then
  return 'gone'
end
redis.call('LPOP', KEYS[2])
for i = #ARGV, 6, -1 do
  redis.call('LPUSH', KEYS[2], ARGV[i])
end
redis.call('DEL', KEYS[3])
return 'ok'
