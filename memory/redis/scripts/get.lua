-- Read messages of one context by id, with the epoch they belong to, their sessions, and who wrote in the context,
-- in one round trip.
-- KEYS: messages, order, epoch, people, sessions
-- ARGV: ids
-- Reply: {epoch, {id, sequence, json, ...} of those that are there, {sequence at which its session began or '0', ...}
--         of the same, {sender id, name, ...}}
local messages, order, epoch, people, sessions = unpack(KEYS)
local found, began = {}, {}
for _, id in ipairs(ARGV) do
  local json = redis.call('HGET', messages, id)
  local sequence = redis.call('ZSCORE', order, id)
  if json and sequence then
    found[#found + 1] = id
    found[#found + 1] = sequence
    found[#found + 1] = json
    began[#began + 1] = redis.call('ZREVRANGEBYSCORE', sessions, sequence, '-inf', 'LIMIT', 0, 1)[1] or '0'
  end
end
return { redis.call('GET', epoch) or '0', found, began, redis.call('HGETALL', people) }
