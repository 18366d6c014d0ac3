-- Count what still tells of messages that were deleted.
-- KEYS: meta, lineage, ledger
-- ARGV: prefix of artifact keys, number of sequences, the sequences, number of artifacts, their ids, ids of messages ...
-- Reply: {summaries, ledger turns, artifacts}
local meta, lineage, ledger = unpack(KEYS)
local artifact_prefix, count = ARGV[1], tonumber(ARGV[2])
local start = tonumber(redis.call('HGET', meta, 'conversation_start') or '0')
local summaries, turns, artifacts = 0, 0, 0
local sequences, gone = {}, {}
for at = 3, 2 + count do
  sequences[#sequences + 1] = ARGV[at]
  if tonumber(ARGV[at]) >= start then
    summaries = math.max(summaries, redis.call('ZCOUNT', lineage, ARGV[at], '+inf'))
  end
  if find_ledger_turn(ledger, ARGV[at]) then
    turns = turns + 1
  end
end
local messages_at = 4 + count + tonumber(ARGV[3 + count])
for at = 4 + count, #ARGV do
  gone[ARGV[at]] = true
  if at < messages_at then
    artifacts = artifacts + redis.call('EXISTS', artifact_prefix .. ARGV[at])
  end
end
if count > 0 then
  turns = turns + #find_quoting_turns(ledger, oldest_since(0, sequences), gone)
end
return { summaries, turns, artifacts }
