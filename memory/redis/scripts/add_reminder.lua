-- Store a reminder if there is room for it.
-- USES: reminders
-- KEYS: reminders due epoch
-- ARGV: context_id expected_epoch:current line per_person:number per_chat:number
-- line: Reminder (memory/reminders/reminder.py) as JSON
-- Reply: added (now or before) | person_limit | chat_limit
local reminder = fields_of(line)
local id = reminder.id
if redis.call('HEXISTS', reminders, id) == 1 then return 'added' end
if redis.call('HLEN', reminders) >= per_chat then return 'chat_limit' end
local of_person = 0
for _, other in ipairs(redis.call('HVALS', reminders)) do
  of_person = of_person + (fields_of(other).person_id == reminder.person_id and 1 or 0)
end
if of_person >= per_person then return 'person_limit' end
put_reminder(keys, context_id, id, line)
return 'added'
