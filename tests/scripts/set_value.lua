-- Set one key.
-- KEYS: key
-- ARGV: value
return redis.call('SET', key, value)['ok']
