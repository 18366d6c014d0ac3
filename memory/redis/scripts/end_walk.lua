-- End a walk that has queued everything, unless another walker or build was here.
-- KEYS: walk
-- ARGV: cursor:json

local current = redis.call('HMGET', walk, 'build', 'context', 'sequence')
if current[1] == cursor.build and current[2] == cursor.context and current[3] == cursor.sequence then
  redis.call('HSET', walk, 'has_ended', 1)
end
