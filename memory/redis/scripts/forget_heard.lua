-- Forget a heard line, and the lines that copy its message.
-- USES: heard_lines
-- KEYS: heard erasures
-- ARGV: score
-- Reply: how many lines were erased
local forgotten = redis.call('ZREMRANGEBYSCORE', heard, score, score) + drop_pins(heard, score)
if forgotten > 0 then
  redis.call('INCR', erasures)
end
return forgotten
