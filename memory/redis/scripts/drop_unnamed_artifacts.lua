-- Erase the artifacts that no turn of the ledger names: of turns that never ended, or that began anew.
-- KEYS: artifacts, ledger, epoch
-- ARGV: epoch, prefix of artifact keys
-- Reply: how many there were; nil when the context was reset: then nothing is written.
local artifacts, ledger, epoch_key = unpack(KEYS)
if (redis.call('GET', epoch_key) or '0') ~= ARGV[1] then
  return false
end
local kept = redis.call('ZRANGE', artifacts, 0, -1)
local named, offset, at_once = {}, 0, 100
while #kept > 0 do
  local turns = redis.call('ZRANGE', ledger, offset, offset + at_once - 1)
  for _, turn in ipairs(turns) do
    for _, id in ipairs(artifacts_of_turn(turn)) do
      named[id] = true
    end
  end
  offset = offset + at_once
  if #turns < at_once then
    break
  end
end
local dropped = 0
for _, id in ipairs(kept) do
  if not named[id] then
    dropped = dropped + drop_artifact(artifacts, ARGV[2], id)
  end
end
return dropped
