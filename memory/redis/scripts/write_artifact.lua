-- Write some pieces of an artifact, unless another writer has begun.
-- KEYS: artifact artifacts epoch
-- ARGV: expected_epoch:current write:json fields...
-- write: ArtifactWrite (memory/artifacts/store.py); fields: field, value, ... (pieces, and `about` with the last of them)
-- Reply: 1; 0 if another writing has begun or the pieces before these are gone: then nothing is written.
if not write.is_first and redis.call('HGET', artifact, 'writing') ~= write.writing then return 0 end
-- Before UNLINK: a full server refuses a script at its first write if that needs memory, and never later.
redis.call('ZADD', artifacts, write.ends_at, write.id)
if write.is_first then
  redis.call('UNLINK', artifact)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', artifacts, '-inf', write.now, 'LIMIT', 0, 100)) do
    -- Clocks may disagree: an id stays as long as a reset must find its key.
    if redis.call('EXISTS', write.prefix .. id) == 0 then redis.call('ZREM', artifacts, id) end
  end
end
redis.call('HSET', artifact, 'writing', write.writing, unpack(fields))
redis.call('PEXPIRE', artifact, write.ttl_ms)
if redis.call('PTTL', artifacts) < write.ttl_ms then
  redis.call('PEXPIRE', artifacts, write.ttl_ms)
end
return 1
