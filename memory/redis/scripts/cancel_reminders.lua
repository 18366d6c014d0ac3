-- Erase reminders of one context.
-- USES: reminders
-- KEYS: reminders due epoch erasures
-- ARGV: context_id expected_epoch:current ids...
-- Reply: how many existed
local cancelled = 0
for _, id in ipairs(ids) do cancelled = cancelled + drop_reminder(keys, context_id, id) end
if cancelled > 0 then redis.call('INCR', erasures) end
return cancelled
