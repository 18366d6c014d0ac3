-- Delete messages of one context, with all that tells of them: summaries, their turns of the ledger, later ones that
-- quote them, the artifacts of these, the quotations of them in other messages; a sender goes with their last message. A
-- message that loses a quotation may have had it told: it counts as telling, as one that is deleted does. Queues the
-- removal of the messages' vectors. A prelude, after telegram_index.lua, people.lua and drop_traces.lua. The script that
-- includes it has checked the epoch already: nothing is checked here.

-- Drop the turn of the ledger that has the message of this sequence. `erasure`: see below.
local function drop_turn_at(erasure, sequence)
  local turn, theirs = find_ledger_turn(erasure.ledger, sequence)
  if not turn then
    return
  end
  erasure.turns = erasure.turns + redis.call('ZREM', erasure.ledger, turn)
  for _, artifact in ipairs(theirs) do
    erasure.named[#erasure.named + 1], erasure.gone[artifact] = artifact, true
    erasure.artifacts = erasure.artifacts + drop_artifact(erasure.artifacts_key, erasure.artifact_prefix, artifact)
  end
end

-- keys: the eight of `append_messages`, epoch, summaries, lineage, ledger, artifacts, compress
-- ids: of the messages; quoted: Telegram ids of others that are to be quoted no more
-- Returns {messages, summaries, ledger turns, artifacts, {sequence, ...}, {artifact id, ...}, {sender id, ...},
--          quotations, {what they were known by (Telegram ids, message ids), ...}} that were there.
local function delete_messages(keys, context, epoch, artifact_prefix, ids, quoted)
  local messages, order, telegram, meta, work, people, senders, sessions = unpack(keys, 1, 8)
  local summaries, lineage, ledger, artifacts, compress = unpack(keys, 10, 14)
  local erasure = {
    ledger = ledger, artifacts_key = artifacts, artifact_prefix = artifact_prefix,
    turns = 0, artifacts = 0, named = {}, gone = {},
  }
  local deleted, sequences, telling, wrote, names = 0, {}, {}, {}, {}
  for _, telegram_id in ipairs(quoted) do
    names[#names + 1] = telegram_id
  end
  for _, id in ipairs(ids) do
    local sequence = redis.call('ZSCORE', order, id)
    local json = redis.call('HGET', messages, id)
    for _, name in ipairs(names_of(telegram, id)) do
      names[#names + 1] = name
    end
    redis.call('HDEL', messages, id)
    redis.call('ZREM', order, id)
    unlink_telegram(telegram, id)
    if json or sequence then
      deleted = deleted + 1
      redis.call('XADD', work, '*', 'op', 'drop', 'context', context, 'epoch', epoch, 'id', id)
    end
    if json then
      unlink_quote(telegram, id, json)
    end
    if json and sequence then
      wrote[#wrote + 1] = uncount_sender(people, senders, meta, json, sequence)
    end
    if sequence then
      sequences[#sequences + 1], telling[#telling + 1], erasure.gone[id] = sequence, sequence, true
      drop_turn_at(erasure, sequence)
    end
  end
  local quotations = 0
  for _, name in ipairs(names) do
    for _, sequence in ipairs(strip_quotes(messages, order, telegram, name)) do
      quotations, telling[#telling + 1] = quotations + 1, sequence
      drop_turn_at(erasure, sequence)
    end
  end
  if #telling > 0 then
    local turns, kept, last = drop_quoting_turns(ledger, artifacts, artifact_prefix, oldest_since(0, telling),
                                                 erasure.gone, erasure.named)
    erasure.turns, erasure.artifacts = erasure.turns + turns, erasure.artifacts + kept
    for _, sequence in ipairs(last) do
      telling[#telling + 1] = sequence
    end
  end

  local oldest = oldest_since(redis.call('HGET', meta, 'conversation_start') or '0', telling)
  local summaries_dropped = 0
  if oldest then
    summaries_dropped = drop_summaries(summaries, lineage, compress, context, oldest)
  end
  if deleted + quotations > 0 then
    redis.call('HINCRBY', meta, 'revision', 1)
  end
  if redis.call('EXISTS', order) == 0 then
    redis.call('UNLINK', sessions)
    redis.call('HDEL', meta, 'session_start', 'last_sent_at')
  end
  return {
    deleted, summaries_dropped, erasure.turns, erasure.artifacts, sequences, erasure.named, wrote, quotations, names,
  }
end
