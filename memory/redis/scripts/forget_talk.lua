-- Forget a line of talk, and the lines that copy its message.
-- USES: talk_lines
-- KEYS: talk erasures
-- ARGV: score
-- Reply: how many lines were erased
local forgotten = redis.call('ZREMRANGEBYSCORE', talk, score, score) + drop_pins(talk, score)
if forgotten > 0 then
  redis.call('INCR', erasures)
end
return forgotten
