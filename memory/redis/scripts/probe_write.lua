-- Write, to find out if anything can be written.
-- KEYS: probe
-- ARGV: ttl
redis.call('SET', probe, 'x', 'EX', ttl)
