-- Read messages of one context by id, with the epoch they belong to, in one round trip.
-- KEYS: messages, order, epoch
-- ARGV: ids
-- Reply: {epoch, {id, sequence, json, ...}} of those that are there.
local found = {}
for _, id in ipairs(ARGV) do
  local json = redis.call('HGET', KEYS[1], id)
  local sequence = redis.call('ZSCORE', KEYS[2], id)
  if json and sequence then
    found[#found + 1] = id
    found[#found + 1] = sequence
    found[#found + 1] = json
  end
end
return {redis.call('GET', KEYS[3]) or '0', found}
