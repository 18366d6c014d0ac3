-- KEYS key   ARGV value
return redis.call('SET', KEYS[1], ARGV[1])['ok']
