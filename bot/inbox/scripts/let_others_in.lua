-- Store that an isolated update does not run alone any more. Its worker's death proves nothing against it from now on.
-- USES: fence
-- KEYS: ready box journal update
-- ARGV: fence:held
local first = first_update(journal, box)
if first then redis.call('HDEL', update .. ':' .. first, 'alone') end
