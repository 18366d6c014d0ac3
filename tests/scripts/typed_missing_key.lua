-- A script whose code needs a key that its header does not declare.
-- KEYS: meta
-- ARGV: name
return redis.call('SET', keys.epoch, name)
