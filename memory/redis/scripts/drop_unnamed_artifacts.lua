-- Erase the artifacts that no turn of the ledger names: they belong to turns that never ended, or that began again.
-- USES: ledger
-- KEYS: artifacts ledger epoch erasures active
-- ARGV: context_id expected_epoch:current artifact_prefix spares_running
-- spares_running: '1' erases none while the context has work, because its turn may be storing one.
-- Reply: how many there were
if spares_running == '1' and redis.call('HEXISTS', active, context_id) == 1 then
  return 0
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
