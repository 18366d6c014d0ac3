-- Turn due reminders into updates of their contexts, each date once, and set the next dates. Atomic.
-- USES: fence own_update
-- KEYS: due own_updates active ready
-- ARGV: reminders:json now rules:json
-- reminders: DueReminder each, rules: FiringRules (bot/inbox/reminders.py)
-- Returns for each reminder: fired | full (its box is full: it is tried again) | gone (erased, or not readable)
-- | taken (another process was faster)
local outcomes = {}

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
  local place = { own_updates = own_updates, box = each.keys.box, stop = each.keys.stop, active = active, ready = ready }
  place_own_update(place, each.context_id, each.payload, 'reminder remind due', now, rules)
  return 'fired'
end

for number, each in ipairs(reminders) do
  outcomes[number] = fire(each)
end
return outcomes
