-- A piece of work on a context is done: let the context rest, go on, or go to the end of the line: when it is told to
-- (rotate), and when others wait. Who writes without a pause would else hold a worker's slot for turn after turn.
-- KEYS ready, active, box, outbox   ARGV 1 group, 2 consumer, 3 entry, 4 delivery, 5 context, 6 rotate (1 | 0),
--      7 key of an update whose attempt is taken back, or ''
-- Returns idle | more | rotated | fenced
local ready, active, box, outbox = unpack(KEYS)
local group, consumer, entry, delivery, context, rotate, handed_back = unpack(ARGV)
if not is_held(ready, group, consumer, entry, delivery) then
  return 'fenced'
end
if handed_back ~= '' then
  take_back(handed_back, entry .. ':' .. delivery)
end

-- Whether the stream has entries that no worker has claimed yet.
local function others_wait()
  for _, told in ipairs(redis.call('XINFO', 'GROUPS', ready)) do
    local about = {}
    for i = 1, #told, 2 do
      about[told[i]] = told[i + 1]
    end
    if about['name'] == group then
      return #redis.call('XRANGE', ready, '(' .. about['last-delivered-id'], '+', 'COUNT', 1) > 0
    end
  end
  return false
end

local is_idle = redis.call('EXISTS', box, outbox) == 0
if not is_idle and rotate ~= '1' and not others_wait() then
  return 'more'
end
redis.call('XACK', ready, group, entry)
redis.call('XDEL', ready, entry)
redis.call('HDEL', active, context)
if is_idle then
  return 'idle'
end
wake(ready, active, context)
return 'rotated'
