-- Erase reminders of one context if it was not reset since `expected_epoch`.
-- USES: reminders
-- KEYS: reminders due epoch erasures
-- ARGV: context_id expected_epoch ids...
-- Reply: how many existed; nil after a reset: nothing is written then.
if (redis.call('GET', epoch) or '0') ~= expected_epoch then
  return false
end
local cancelled = 0
for _, id in ipairs(ids) do
  cancelled = cancelled + drop_reminder(keys, context_id, id)
end
if cancelled > 0 then
  redis.call('INCR', erasures)
end
return cancelled
