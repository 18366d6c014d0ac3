-- A piece of work on a context is done: let the context rest, go on, or go to the end of the line: when it is told to
-- (rotate), and when others wait. Who writes without a pause would else hold a worker's slot for turn after turn.
-- USES: fence
-- KEYS: ready active box outbox
-- ARGV: fence:json context rotate handed_back
-- `handed_back`: key of an update whose attempt is taken back, or ''
-- Returns idle | more | rotated | fenced
if not is_held(ready, fence) then
  return 'fenced'
end
if handed_back ~= '' then
  take_back(handed_back, fence.entry .. ':' .. fence.delivery)
end

-- Whether the stream has entries that no worker has claimed yet.
local function others_wait()
  for _, told in ipairs(redis.call('XINFO', 'GROUPS', ready)) do
    local about = {}
    for i = 1, #told, 2 do
      about[told[i]] = told[i + 1]
    end
    if about['name'] == fence.group then
      return #redis.call('XRANGE', ready, '(' .. about['last-delivered-id'], '+', 'COUNT', 1) > 0
    end
  end
  return false
end

local is_idle = redis.call('EXISTS', box, outbox) == 0
if not is_idle and rotate ~= '1' and not others_wait() then
  return 'more'
end
redis.call('XACK', ready, fence.group, fence.entry)
redis.call('XDEL', ready, fence.entry)
redis.call('HDEL', active, context)
if is_idle then
  return 'idle'
end
wake(ready, active, context)
return 'rotated'
