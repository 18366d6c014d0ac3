-- Erase an artifact whose writing was interrupted, unless another writer has begun.
-- KEYS: artifact artifacts erasures
-- ARGV: artifact_id writing
if redis.call('HGET', artifact, 'writing') == writing then
  redis.call('UNLINK', artifact)
  redis.call('ZREM', artifacts, artifact_id)
  redis.call('INCR', erasures)
end
