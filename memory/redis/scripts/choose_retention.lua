-- Keep what people have chosen about the age of messages, and look for older ones now.
-- KEYS: choices retain
-- ARGV: context_id choice
redis.call('HSET', choices, 'retention', choice)
redis.call('ZADD', retain, 0, context_id)
