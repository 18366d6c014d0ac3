-- Erase an artifact whose writing was cut off, if nobody else has begun to write it.
-- KEYS: artifact, artifacts
-- ARGV: artifact id, writing (the token of the writing that was cut off)
if redis.call('HGET', KEYS[1], 'writing') == ARGV[2] then
  redis.call('UNLINK', KEYS[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
end
