-- Forget what was heard of one message: its line, and those that copy it.
-- KEYS: heard
-- ARGV: score
-- Reply: how many lines were erased
return redis.call('ZREMRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[1]) + drop_pins(KEYS[1], ARGV[1])
