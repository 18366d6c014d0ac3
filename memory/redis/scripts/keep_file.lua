-- Keep a file for the outbox, unless the context was reset since.
-- KEYS: files epoch
-- ARGV: expected_epoch file_id content ttl
-- Reply: 1; nil after a reset: nothing is written then.
if (redis.call('GET', epoch) or '0') ~= expected_epoch then
  return false
end
redis.call('HSET', files, file_id, content)
redis.call('EXPIRE', files, ttl)
return 1
