-- Store a reminder if the context was not reset since `expected_epoch` and there is room for it.
-- USES: reminders
-- KEYS: reminders due epoch
-- ARGV: context_id expected_epoch line per_person:number per_chat:number
-- line: Reminder (memory/reminders/reminder.py) as JSON
-- Reply: added (now or before) | person_limit | chat_limit | nil after a reset: nothing is written then.
if (redis.call('GET', epoch) or '0') ~= expected_epoch then
  return false
end
local id = string.match(line, '"id":"(%x+)"')
if redis.call('HEXISTS', reminders, id) == 1 then
  return 'added'
end
if redis.call('HLEN', reminders) >= per_chat then
  return 'chat_limit'
end
local mark, of_person = string.match(line, '"person_id":%-?%d+,'), 0
for _, other in ipairs(redis.call('HVALS', reminders)) do
  of_person = of_person + (string.find(other, mark, 1, true) and 1 or 0)
end
if of_person >= per_person then
  return 'person_limit'
end
put_reminder(keys, context_id, id, line)
return 'added'
