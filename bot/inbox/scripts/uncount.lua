-- Uncount the attempt of a claim that was lost while its worker lives: nobody died over the update.
-- USES: fence
-- KEYS: box journal
-- ARGV: fence:json updates at_most:number
-- at_most: attempts of an update that are uncounted. One that blocks each of its workers must become a dead letter.
local first = first_update(journal, box)
local attempt = attempt_of(fence)
if first and redis.call('HEXISTS', updates .. first, counted(attempt)) == 1 then
  if redis.call('HINCRBY', updates .. first, 'uncounted', 1) <= at_most then
    take_back(updates .. first, attempt)
  end
end
