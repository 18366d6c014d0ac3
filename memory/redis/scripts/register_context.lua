-- Keep a context's entry if it has none, or if the one it has is the one that the caller replaces.
-- KEYS: contexts
-- ARGV: context_id, entry (JSON, opaque), replaced ('' or the entry as it was read)
-- Reply: {1 if the entry was written, the entry that is kept now}
local current = redis.call('HGET', KEYS[1], ARGV[1])
if current and current ~= ARGV[3] then
  return {0, current}
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return {1, ARGV[2]}
