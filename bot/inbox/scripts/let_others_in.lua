-- Store that an isolated update does not run alone any more. Its worker's death proves nothing against it from now on.
-- USES: fence
-- KEYS: ready box journal
-- ARGV: fence:json updates
-- Returns 1 held, 0 lost
if not is_held(ready, fence) then
  return 0
end
local first = first_update(journal, box)
if first then
  redis.call('HDEL', updates .. first, 'alone')
end
return 1
