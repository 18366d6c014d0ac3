-- Store that an isolated update does not run alone any more. Its worker's death proves nothing against it from now on.
-- USES: fence
-- KEYS: ready box journal
-- ARGV: fence:held updates
local first = first_update(journal, box)
if first then
  redis.call('HDEL', updates .. first, 'alone')
end
