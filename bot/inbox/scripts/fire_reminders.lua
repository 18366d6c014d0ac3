-- Turn due reminders into updates of their contexts, each date once, and set the next dates. Atomic.
-- USES: fence
-- KEYS: due own_updates active ready
-- ARGV: reminders:json now rules:json
-- reminders: DueReminder each, rules: FiringRules (bot/inbox/reminders.py)
-- Returns for each reminder: fired | full (its box is full: it is tried again) | gone (erased, or not readable)
-- | taken (another process was faster)
local outcomes = {}

-- Their ids are negative, and differ between partitions. In a box they come first, oldest first.
local function store(each)
  local number = redis.call('INCR', own_updates)
  local id = digits(-((number - 1) * rules.partitions + rules.partition + 1))
  -- Stops up to now came before this update.
  local follows = redis.call('GET', each.keys.stop) or '0'
  redis.call('HSET', rules.update_prefix .. id, 'context', each.context_id, 'received_at', now,
             'gate', 'reminder remind due', 'state', 'pending',
             'payload', '{"update_id":' .. id .. ',"follows":' .. follows .. each.payload)
  redis.call('ZADD', each.keys.box, digits(number - 1e15), id)
  wake(ready, active, each.context_id)
end

local function fire(each)
  local member = each.context_id .. ' ' .. each.reminder_id
  local score = redis.call('ZSCORE', due, member)
  if not score or tonumber(score) ~= each.score then
    return 'taken'
  end
  if each.payload == '' or redis.call('HEXISTS', each.keys.reminders, each.reminder_id) == 0 then
    redis.call('ZREM', due, member)
    return 'gone'
  end
  if redis.call('ZCARD', each.keys.box) >= rules.box then
    redis.call('ZADD', due, now + rules.full_pause_s, member)
    return 'full'
  end
  if each.next_at then
    redis.call('HSET', each.keys.reminders, each.reminder_id, each.line)
    redis.call('ZADD', due, each.next_at, member)
  else
    redis.call('HDEL', each.keys.reminders, each.reminder_id)
    redis.call('ZREM', due, member)
  end
  store(each)
  return 'fired'
end

for number, each in ipairs(reminders) do
  outcomes[number] = fire(each)
end
return outcomes
