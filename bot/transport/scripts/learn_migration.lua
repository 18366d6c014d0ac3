-- Record once which group a supergroup was.
-- KEYS: migrations
-- ARGV: supergroup group
-- Returns the id of the former group.
redis.call('HSETNX', migrations, supergroup, group)
return redis.call('HGET', migrations, supergroup)
