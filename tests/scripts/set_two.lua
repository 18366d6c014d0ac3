-- Set two keys, which no cluster takes in one script if their slots differ.
-- KEYS: one two
-- ARGV: value
redis.call('SET', one, value)
return redis.call('SET', two, value)['ok']
