-- Turn a due reminder into an update of its context, each date once, and set the next date. Atomic.
-- USES: fence own_update
-- KEYS: due own_updates active ready reminders box stop
-- ARGV: context_id reminder:json now rules:json
-- reminder: DueReminder, rules: FiringRules (bot/inbox/reminders.py)
-- Returns fired | full (its box is full: it is tried again) | gone (erased, or not readable)
-- | taken (another process was faster)
local id, member = reminder.reminder_id, context_id .. ' ' .. reminder.reminder_id
if tonumber(redis.call('ZSCORE', due, member) or '') ~= reminder.score then return 'taken' end
if reminder.payload == '' or redis.call('HEXISTS', reminders, id) == 0 then
  redis.call('ZREM', due, member)
  return 'gone'
end
if redis.call('ZCARD', box) >= rules.box then
  redis.call('ZADD', due, now + rules.full_pause_s, member)
  return 'full'
end
if reminder.next_at then
  redis.call('HSET', reminders, id, reminder.line)
  redis.call('ZADD', due, reminder.next_at, member)
else
  redis.call('HDEL', reminders, id)
  redis.call('ZREM', due, member)
end
place_own_update(keys, context_id, reminder.payload, 'reminder remind due', now, rules)
return 'fired'
