-- Take over entries whose holder gave no sign of life for a lease.
-- KEYS ready   ARGV 1 group, 2 consumer, 3 idle ms, 4 how many at most
-- Returns {entry, context, delivery, entry, context, delivery, …}
local group, consumer, idle, count = unpack(ARGV)
local taken = {}
local from = '0-0'
repeat
  -- One call looks at ten times COUNT entries only: the idle ones may stand behind those that are worked on.
  local reply = redis.call('XAUTOCLAIM', KEYS[1], group, consumer, idle, from, 'COUNT', count - #taken / 3)
  from = reply[1]
  for _, entry in ipairs(reply[2]) do
    local held = redis.call('XPENDING', KEYS[1], group, entry[1], entry[1], 1)[1]
    taken[#taken + 1] = entry[1]
    taken[#taken + 1] = entry[2][2]
    taken[#taken + 1] = tostring(held[4])
  end
until from == '0-0' or #taken / 3 >= tonumber(count)
return taken
