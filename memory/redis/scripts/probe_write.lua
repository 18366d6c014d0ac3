-- Write, to find out if anything can be written. The other commands of a new update change nothing here: only the
-- permission for them is asked.
-- KEYS: probe
-- ARGV: ttl
redis.call('DEL', probe)
redis.call('ZADD', probe, 'XX', 1, 'x')
redis.call('XADD', probe, 'NOMKSTREAM', '*', 'x', 'x')
redis.call('HSET', probe, 'x', 'x')
redis.call('EXPIRE', probe, ttl)
