-- Uncount the attempt of a claim that was lost while its worker lives: nobody died over the update.
-- USES: fence
-- KEYS: box journal update
-- ARGV: fence:json at_most:number
-- at_most: attempts of an update that are uncounted. One that blocks each of its workers must become a dead letter.
local first, attempt = first_update(journal, box), attempt_of(fence)
local record = update .. ':' .. (first or '')
if redis.call('HEXISTS', record, counted(attempt)) == 0 then return end
if redis.call('HINCRBY', record, 'uncounted', 1) <= at_most then take_back(record, attempt) end
