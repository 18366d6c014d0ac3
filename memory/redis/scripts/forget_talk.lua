-- Forget a line of talk, and the lines that copy its message.
-- USES: talk_lines tombstones
-- KEYS: talk erasures tombstones
-- ARGV: score buried:json
-- Reply: how many lines were erased
local forgotten = redis.call('ZREMRANGEBYSCORE', talk, score, score) + drop_pins(talk, score)
if forgotten > 0 then
  bury(tombstones, buried)
  redis.call('INCR', erasures)
end
return forgotten
