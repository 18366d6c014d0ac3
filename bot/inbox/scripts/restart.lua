-- Start a turn again, because its question has changed: forget its finished steps. The message that shows it stays
-- noted, so that the next try uses it. This attempt does not count.
-- USES: fence
-- KEYS: ready journal box files erasures
-- ARGV: fence:json update_prefix
-- Returns ok | fenced
if not is_held(ready, fence) then
  return 'fenced'
end
local first = first_update(journal, box)
local preview = redis.call('HGET', journal, 'preview')
redis.call('DEL', journal)
redis.call('INCR', erasures)
redis.call('UNLINK', files)
if preview then
  redis.call('HSET', journal, 'preview', preview)
end
if first then
  take_back(update_prefix .. first, attempt_of(fence))
end
return 'ok'
