-- Delete messages of one context if it was not reset since `epoch`, with all that tells of them: summaries, their
-- turns of the ledger, later ones that quote them, the artifacts of these; a sender goes with their last message.
-- Queues the removal of the messages' vectors.
-- KEYS: the eight of `append_messages`, epoch, summaries, lineage, ledger, artifacts, compress
-- ARGV: context_id, epoch, prefix of artifact keys, ids ...
-- Reply: {messages, summaries, ledger turns, artifacts, {sequence, ...}, {artifact id, ...}, {sender id, ...}} that were
--        there, or nil when the context was reset: then nothing is written.
local messages, order, telegram, meta, work, people, senders, sessions = unpack(KEYS, 1, 8)
local epoch_key, summaries, lineage, ledger, artifacts, compress = unpack(KEYS, 9, 14)
local context, epoch, artifact_prefix = unpack(ARGV, 1, 3)
if (redis.call('GET', epoch_key) or '0') ~= epoch then
  return false
end

local deleted, turns_dropped, artifacts_dropped = 0, 0, 0
local sequences, telling, named, gone, wrote = {}, {}, {}, {}, {}
for at = 4, #ARGV do
  local id = ARGV[at]
  local sequence = redis.call('ZSCORE', order, id)
  local json = redis.call('HGET', messages, id)
  redis.call('HDEL', messages, id)
  redis.call('ZREM', order, id)
  unlink_telegram(telegram, id)
  if json or sequence then
    deleted = deleted + 1
    redis.call('XADD', work, '*', 'op', 'drop', 'context', context, 'epoch', epoch, 'id', id)
  end
  if json and sequence then
    wrote[#wrote + 1] = uncount_sender(people, senders, meta, json, sequence)
  end
  if sequence then
    sequences[#sequences + 1], telling[#telling + 1], gone[id] = sequence, sequence, true
    local turn, theirs = find_ledger_turn(ledger, sequence)
    if turn then
      turns_dropped = turns_dropped + redis.call('ZREM', ledger, turn)
      for _, artifact in ipairs(theirs) do
        named[#named + 1], gone[artifact] = artifact, true
        artifacts_dropped = artifacts_dropped + drop_artifact(artifacts, artifact_prefix, artifact)
      end
    end
  end
end
if #sequences > 0 then
  local first = oldest_since(0, sequences)
  local turns, kept, last = drop_quoting_turns(ledger, artifacts, artifact_prefix, first, gone, named)
  turns_dropped, artifacts_dropped = turns_dropped + turns, artifacts_dropped + kept
  for _, sequence in ipairs(last) do
    telling[#telling + 1] = sequence
  end
end

local oldest = oldest_since(redis.call('HGET', meta, 'conversation_start') or '0', telling)
local summaries_dropped = 0
if oldest then
  summaries_dropped = drop_summaries(summaries, lineage, compress, context, oldest)
end
if deleted > 0 then
  redis.call('HINCRBY', meta, 'revision', 1)
end
if redis.call('EXISTS', order) == 0 then
  redis.call('UNLINK', sessions)
  redis.call('HDEL', meta, 'session_start', 'last_sent_at')
end
return { deleted, summaries_dropped, turns_dropped, artifacts_dropped, sequences, named, wrote }
