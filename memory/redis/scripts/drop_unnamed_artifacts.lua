-- Erase the artifacts that no turn of the ledger names: they belong to turns that never ended, or that began again.
-- USES: drop_traces
-- KEYS: artifacts ledger epoch erasures
-- ARGV: expected_epoch artifact_prefix
-- Reply: how many there were; nil after a reset: nothing is written then.
if (redis.call('GET', epoch) or '0') ~= expected_epoch then
  return false
end
local stored = redis.call('ZRANGE', artifacts, 0, -1)
local named, offset, page = {}, 0, 100
while #stored > 0 do
  local turns = redis.call('ZRANGE', ledger, offset, offset + page - 1)
  for _, turn in ipairs(turns) do
    for _, id in ipairs(artifacts_of_turn(turn)) do
      named[id] = true
    end
  end
  offset = offset + page
  if #turns < page then
    break
  end
end
local dropped = 0
for _, id in ipairs(stored) do
  if not named[id] then
    dropped = dropped + drop_listed(artifacts, artifact_prefix, id)
  end
end
if dropped > 0 then
  redis.call('INCR', erasures)
end
return dropped
