-- Read a piece of the names of the keys on a partition's server.
-- KEYS: contexts
-- ARGV: cursor count pattern
-- Reply: {next cursor, or 0 at the end, {key, ...}}; `contexts` only names the partition
return redis.call('SCAN', cursor, 'MATCH', pattern, 'COUNT', count)
