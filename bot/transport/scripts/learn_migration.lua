-- Note which group a supergroup was, once and for all.
-- KEYS migrations
-- ARGV supergroup id, the group's id
-- Reply: the id of the group that the supergroup was
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
