-- Local functions of the inbox's scripts.
-- USES: updates

-- Return true if the claim still holds: its consumer has this entry of `ready`, at this delivery. A worker that slept
-- past its lease finds another delivery count here, and writes nothing.
local function is_held(ready, fence)
  local held = redis.call('XPENDING', ready, fence.group, fence.entry, fence.entry, 1)[1]
  return held ~= nil and held[2] == fence.consumer and tostring(held[4]) == fence.delivery
end

-- Return an integer of a decoded record as its digits. Redis would write the Lua number 100000000 as 1e+8.
local function digits(number)
  return string.format('%.0f', number)
end

-- Return the name of the attempt that an update begins under this claim. One delivery of one entry is one attempt:
-- repeating a script, or taking again after an outage, begins no other.
local function attempt_of(fence)
  return fence.entry .. ':' .. fence.delivery
end

-- Return the update that the work on a context is about: the first of the interrupted turn, else the first that waits.
local function first_update(journal, box)
  local first = cjson.decode(redis.call('HGET', journal, 'joined') or '[]')[1]
  if first and redis.call('ZSCORE', box, first) then return first, true end
  return redis.call('ZRANGE', box, 0, 0)[1], false
end

-- Return true if the update is a dead letter at the beginning of this attempt: it was begun too often, and its last
-- worker died while it ran alone. A turn that broke without a death went on with another entry, and counts as well.
local function is_dead_letter(update, attempts_at_most, attempt)
  local attempts, last, alone = unpack(redis.call('HMGET', update, 'attempts', 'attempt', 'alone'))
  if tonumber(attempts or '0') < tonumber(attempts_at_most) or not last or last == attempt then
    return false
  end
  return last == alone or string.match(last, '^(.*):') ~= string.match(attempt, '^(.*):')
end

-- Return the field of an update that an attempt sets when it is counted.
local function counted(attempt)
  return 'counted ' .. attempt
end

-- Uncount an attempt in which no worker died. The next take begins another one. A repetition changes nothing.
local function take_back(update, attempt)
  if redis.call('HGET', update, 'attempt') == attempt then redis.call('HDEL', update, 'attempt') end
  if redis.call('HDEL', update, counted(attempt)) == 1 then
    redis.call('HINCRBY', update, 'attempts', -1)
  end
end

-- Forget the finished steps of a turn. The message that shows it stays noted: the next try or the apology uses it.
local function forget_steps(journal)
  local preview = redis.call('HGET', journal, 'preview')
  redis.call('DEL', journal)
  if preview then redis.call('HSET', journal, 'preview', preview) end
end

-- Wake a context: give it one entry in `ready` unless it has one.
local function wake(ready, active, context)
  if redis.call('HEXISTS', active, context) == 0 then
    redis.call('HSET', active, context, redis.call('XADD', ready, '*', 'context', context))
  end
end

-- End a claim: its context has no entry in `ready` any more.
local function end_claim(ready, active, context, fence)
  redis.call('XACK', ready, fence.group, fence.entry)
  redis.call('XDEL', ready, fence.entry)
  redis.call('HDEL', active, context)
end
