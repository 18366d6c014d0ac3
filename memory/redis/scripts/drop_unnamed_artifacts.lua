-- Erase the artifacts that no turn of the ledger names: they belong to turns that never ended, or that began again.
-- USES: ledger
-- KEYS: artifacts artifact ledger epoch erasures active
-- ARGV: context_id expected_epoch:current spares_running
-- spares_running: '1' erases none while the context has work, because its turn may be storing one.
-- Reply: how many there were
if spares_running == '1' and redis.call('HEXISTS', active, context_id) == 1 then return 0 end
local stored, named, dropped = redis.call('ZRANGE', artifacts, 0, -1), {}, 0
for offset = 0, #stored > 0 and redis.call('ZCARD', ledger) or 0, 100 do
  for _, turn in ipairs(redis.call('ZRANGE', ledger, offset, offset + 99)) do
    for _, entry in ipairs(entries_with(turn, 'artifact_id')) do named[entry.artifact_id] = true end
  end
end
for _, id in ipairs(stored) do
  if not named[id] then dropped = dropped + drop_listed(artifacts, artifact, id) end
end
if dropped > 0 then redis.call('INCR', erasures) end
return dropped
