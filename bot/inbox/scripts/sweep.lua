-- Take over entries whose holder gave no sign of life for a lease.
-- KEYS ready   ARGV 1 group, 2 consumer, 3 idle ms, 4 how many at most, 5 prefix of boxes, 6 prefix of update keys,
--      7 attempts that make a dead letter, 8 prefix of journals, 9 prefix of outboxes
-- Returns {entry, context, delivery, how often its next update was begun, how often it was reprieved,
--         whether there is an answer to deliver first (1 | 0), …}
local group, consumer, idle, count, boxes, updates = unpack(ARGV)
local attempts_at_most, journals, outboxes = tonumber(ARGV[7]), ARGV[8], ARGV[9]
local taken = {}

-- How often the update was begun. A worker that died over several things proves nothing against one of them: the last
-- attempt that would make a dead letter counts only if the update was alone in it.
local function judged(entry, update)
  local begun, attempt, alone, reprieved = unpack(redis.call('HMGET', update, 'attempts', 'attempt', 'alone', 'reprieved'))
  begun, reprieved = tonumber(begun or '0'), tonumber(reprieved or '0')
  local is_of_entry = attempt and string.match(attempt, '^(.*):') == entry
  if begun >= attempts_at_most and is_of_entry and alone ~= attempt then
    begun, reprieved = attempts_at_most - 1, reprieved + 1
    redis.call('HSET', update, 'attempts', begun, 'reprieved', reprieved)
  end
  return begun, reprieved
end

local from = '0-0'
repeat
  -- One call looks at ten times COUNT entries only: the idle ones may stand behind those that are worked on.
  local reply = redis.call('XAUTOCLAIM', KEYS[1], group, consumer, idle, from, 'COUNT', count - #taken / 6)
  from = reply[1]
  for _, entry in ipairs(reply[2]) do
    local held = redis.call('XPENDING', KEYS[1], group, entry[1], entry[1], 1)[1]
    taken[#taken + 1] = entry[1]
    taken[#taken + 1] = entry[2][2]
    taken[#taken + 1] = tostring(held[4])
    local first = first_update(journals .. entry[2][2], boxes .. entry[2][2])
    local begun, reprieved, delivers = 0, 0, redis.call('EXISTS', outboxes .. entry[2][2])
    if first and delivers == 0 then
      begun, reprieved = judged(entry[1], updates .. first)
    end
    taken[#taken + 1] = tostring(begun)
    taken[#taken + 1] = tostring(reprieved)
    taken[#taken + 1] = tostring(delivers)
  end
until from == '0-0' or #taken / 6 >= tonumber(count)
return taken
