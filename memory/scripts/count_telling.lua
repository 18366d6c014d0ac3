-- Count what still tells of messages that were deleted.
-- KEYS: meta, lineage, ledger, people, senders
-- ARGV: prefix of artifact keys, number of sequences, the sequences, number of artifacts, their ids, number of senders,
--       their ids, ids of messages ...
-- Reply: {summaries, ledger turns, artifacts, people who have a name here and no message}
local meta, lineage, ledger, people_key, senders_key = unpack(KEYS)
local artifact_prefix, count = ARGV[1], tonumber(ARGV[2])
local start = tonumber(redis.call('HGET', meta, 'conversation_start') or '0')
local summaries, turns, artifacts, people = 0, 0, 0, 0
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
local senders_at = 4 + count + tonumber(ARGV[3 + count])
for at = 4 + count, senders_at - 1 do
  gone[ARGV[at]] = true
  artifacts = artifacts + redis.call('EXISTS', artifact_prefix .. ARGV[at])
end
local messages_at = senders_at + 1 + tonumber(ARGV[senders_at])
for at = senders_at + 1, messages_at - 1 do
  if redis.call('HEXISTS', senders_key, ARGV[at]) == 0 then
    people = people + redis.call('HEXISTS', people_key, ARGV[at])
  end
end
for at = messages_at, #ARGV do
  gone[ARGV[at]] = true
end
if count > 0 then
  turns = turns + #find_quoting_turns(ledger, oldest_since(0, sequences), gone)
end
return { summaries, turns, artifacts, people }
