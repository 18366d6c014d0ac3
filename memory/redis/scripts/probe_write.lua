-- Write as a new update is written, and leave nothing. The first command is one that a full store refuses: after any
-- other write of a script it is accepted. The last two change nothing, and find out if they are permitted.
-- KEYS: probe
-- ARGV: ttl
redis.call('HSET', probe, 'x', 'x')
redis.call('EXPIRE', probe, ttl)
redis.call('DEL', probe)
redis.call('ZADD', probe, 'XX', 1, 'x')
redis.call('XADD', probe, 'NOMKSTREAM', '*', 'x', 'x')
