-- Forget what was heard of one message: its line, and those that copy it.
-- KEYS: heard, erasures
-- ARGV: score
-- Reply: how many lines were erased
local forgotten = redis.call('ZREMRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[1]) + drop_pins(KEYS[1], ARGV[1])
if forgotten > 0 then
  redis.call('INCR', KEYS[2])
end
return forgotten
