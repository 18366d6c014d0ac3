-- Start a turn again, because its question has changed: forget its finished steps. This attempt does not count.
-- USES: fence
-- KEYS: ready journal box files erasures
-- ARGV: fence:held update_prefix
-- Returns ok | fenced
local first = first_update(journal, box)
forget_steps(journal)
redis.call('INCR', erasures)
redis.call('UNLINK', files)
if first then
  take_back(update_prefix .. first, attempt_of(fence))
end
return 'ok'
