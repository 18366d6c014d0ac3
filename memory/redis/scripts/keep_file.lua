-- Keep a file for the outbox.
-- KEYS: files epoch
-- ARGV: expected_epoch:current file_id content ttl
redis.call('HSET', files, file_id, content)
redis.call('EXPIRE', files, ttl)
