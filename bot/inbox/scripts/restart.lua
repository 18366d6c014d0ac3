-- Start a turn again, because its question has changed: forget its finished steps. This attempt does not count.
-- USES: fence
-- KEYS: ready journal box files erasures update
-- ARGV: fence:held
-- Returns ok | fenced
local first = first_update(journal, box)
forget_steps(journal)
redis.call('INCR', erasures)
redis.call('UNLINK', files)
if first then take_back(update .. ':' .. first, attempt_of(fence)) end
return 'ok'
