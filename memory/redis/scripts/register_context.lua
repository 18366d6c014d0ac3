-- Store a context's entry if it has none, or if its entry is the one that the caller replaces.
-- KEYS: contexts
-- ARGV: context_id entry replaced
-- entry: JSON, stored as it is; replaced: '' or the entry as it was read
-- Reply: the entry that is stored now
local current = redis.call('HGET', contexts, context_id)
if current and current ~= replaced then return current end
redis.call('HSET', contexts, context_id, entry)
return entry
