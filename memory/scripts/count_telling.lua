-- Count what still tells of messages that were deleted.
-- KEYS: meta, lineage, ledger
-- ARGV: prefix of artifact keys, number of sequences, the sequences, ids of artifacts ...
-- Reply: {summaries, ledger turns, artifacts}
local meta, lineage, ledger = unpack(KEYS)
local artifact_prefix, count = ARGV[1], tonumber(ARGV[2])
local start = tonumber(redis.call('HGET', meta, 'conversation_start') or '0')
local summaries, turns, artifacts = 0, 0, 0
for at = 3, 2 + count do
  if tonumber(ARGV[at]) >= start then
    summaries = math.max(summaries, redis.call('ZCOUNT', lineage, ARGV[at], '+inf'))
  end
  if find_ledger_turn(ledger, ARGV[at]) then
    turns = turns + 1
  end
end
for at = 3 + count, #ARGV do
  artifacts = artifacts + redis.call('EXISTS', artifact_prefix .. ARGV[at])
end
return { summaries, turns, artifacts }
