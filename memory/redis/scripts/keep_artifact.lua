-- Write some pieces of one artifact, if the context was not reset since `epoch` and nobody else writes it.
-- KEYS: artifact, artifacts, epoch
-- ARGV: epoch, artifact id, ends_at and now (Unix seconds), ttl_ms, prefix of the keys of this context's artifacts,
--   writing (the token of this writing), '1' for its first pieces (what was kept before is dropped) or '0',
--   then field, value ...: pieces, and `about` with the last of them
-- Reply: 1; 0 when another writing has begun or the pieces before these are gone; nil when the context was reset.
--   Nothing is written unless it is 1.
if (redis.call('GET', KEYS[3]) or '0') ~= ARGV[1] then
  return false
end
if ARGV[8] ~= '1' and redis.call('HGET', KEYS[1], 'writing') ~= ARGV[7] then
  return 0
end
-- Before UNLINK: a full server refuses a script at its first write if that needs memory, and never later.
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
if ARGV[8] == '1' then
  redis.call('UNLINK', KEYS[1])
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[4], 'LIMIT', 0, 100)) do
    -- Clocks may disagree: an id is kept for as long as a reset must find its key.
    if redis.call('EXISTS', ARGV[6] .. id) == 0 then
      redis.call('ZREM', KEYS[2], id)
    end
  end
end
redis.call('HSET', KEYS[1], 'writing', ARGV[7])
for at = 9, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[at], ARGV[at + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if redis.call('PTTL', KEYS[2]) < tonumber(ARGV[5]) then
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
end
return 1
