-- Delete messages of one context with everything that mentions them: summaries, their turns of the ledger, later turns
-- that quote them, the artifacts of these turns, their receipts, quotations in other messages, senders without another
-- message, facts and reminders that rest on them or on a message that loses a quotation. Queue the removal of the
-- messages' vectors. Raise `erasures`: the words are unreachable now.
-- A prelude; its script has checked the epoch.
-- USES: telegram_index people drop_traces drop_citing reminders

-- Drop the turn of the ledger that has the message of this sequence. `erasure`: see below.
local function drop_turn_at(erasure, sequence)
  local turn, artifact_ids = find_ledger_turn(erasure.ledger, sequence)
  if not turn then
    return
  end
  erasure.turns = erasure.turns + redis.call('ZREM', erasure.ledger, turn)
  for _, artifact in ipairs(artifact_ids) do
    erasure.named[#erasure.named + 1], erasure.gone[artifact] = artifact, true
    erasure.dropped = erasure.dropped + drop_listed(erasure.artifacts, erasure.artifact_prefix, artifact)
  end
end

-- Delete one message and note what must be dropped because of it: its names, its sender, its sequence.
local function delete_message(keys, context, epoch, id, erasure)
  local sequence = redis.call('ZSCORE', keys.order, id)
  local record = redis.call('HGET', keys.messages, id)
  local message = fields_of(record)
  for _, name in ipairs(names_of(keys.telegram, id)) do
    erasure.names[#erasure.names + 1] = name
  end
  redis.call('HDEL', keys.messages, id)
  redis.call('ZREM', keys.order, id)
  redis.call('ZREM', keys.unread, id)
  erasure.receipts = erasure.receipts + drop_listed(keys.receipts, erasure.receipt_prefix, id)
  unlink_telegram(keys.telegram, id)
  if record or sequence then
    erasure.deleted = erasure.deleted + 1
    redis.call('XADD', keys.work, '*', 'op', 'drop', 'context', context, 'epoch', epoch, 'id', id)
  end
  if quoted_in(message) then
    remove_word(keys.telegram, 'q:' .. quoted_in(message), id)
  end
  if sequence then
    erasure.senders[#erasure.senders + 1] = uncount_sender(keys, message)
    erasure.sequences[#erasure.sequences + 1] = sequence
    erasure.mentioning[#erasure.mentioning + 1], erasure.gone[id] = sequence, true
    drop_turn_at(erasure, sequence)
  end
end

-- keys: messages, order, telegram, meta, work, people, senders, sessions, summaries, lineage, ledger, artifacts, compress,
--   receipts, erasures, and those of drop_citing.lua and reminders.lua
-- prefixes: listed_prefixes (memory/keys.py)
-- ids: of the messages; quoted: Telegram ids of other messages whose quotations are dropped too
-- A message that loses a quotation counts as deleted for summaries and ledger: they may tell the quotation.
-- Return the fields of a Deletion (memory/history/store.py) without message_ids: what existed.
local function delete_messages(keys, context, epoch, prefixes, ids, quoted)
  local erasure = {
    ledger = keys.ledger, artifacts = keys.artifacts, artifact_prefix = prefixes.artifacts,
    receipt_prefix = prefixes.receipts, receipts = 0, deleted = 0, turns = 0, dropped = 0, sequences = {}, mentioning = {}, quoting = {}, turn_ends = {}, senders = {}, names = {}, named = {},
    gone = {},
  }
  for _, telegram_id in ipairs(quoted) do
    erasure.names[#erasure.names + 1] = tostring(telegram_id)
  end
  for _, id in ipairs(ids) do
    delete_message(keys, context, epoch, id, erasure)
  end
  local quotations, changed = 0, {}
  for number, id in ipairs(ids) do
    changed[number] = id
  end
  for _, name in ipairs(erasure.names) do
    for _, sequence in ipairs(strip_quotes(keys.messages, keys.order, keys.telegram, name)) do
      quotations, erasure.mentioning[#erasure.mentioning + 1] = quotations + 1, sequence
      erasure.quoting[#erasure.quoting + 1] = sequence
      changed[#changed + 1] = redis.call('ZRANGEBYSCORE', keys.order, sequence, sequence)[1]
      drop_turn_at(erasure, sequence)
    end
  end
  if #erasure.mentioning > 0 then
    local turns, dropped, last = drop_quoting_turns(keys.ledger, keys.artifacts, prefixes.artifacts,
                                                    oldest_since(0, erasure.mentioning), erasure.gone, erasure.named)
    erasure.turns, erasure.dropped = erasure.turns + turns, erasure.dropped + dropped
    erasure.turn_ends = last
    for _, sequence in ipairs(last) do
      erasure.mentioning[#erasure.mentioning + 1] = sequence
    end
  end

  local oldest = oldest_since(redis.call('HGET', keys.meta, 'conversation_start') or '0', erasure.mentioning)
  local summaries_dropped = {}
  if oldest then
    summaries_dropped = drop_summaries(keys.summaries, keys.lineage, keys.compress, context, oldest)
  end
  if erasure.deleted + quotations > 0 then
    redis.call('HINCRBY', keys.meta, 'revision', 1)
  end
  local facts, cited = drop_citing(keys, context, epoch, changed)
  local reminders = 0
  for _, id in ipairs(reminders_of(keys.reminders, changed)) do
    reminders = reminders + drop_reminder(keys, context, id)
  end
  if redis.call('EXISTS', keys.order) == 0 then
    redis.call('UNLINK', keys.sessions)
    redis.call('HDEL', keys.meta, 'session_start', 'last_sent_at')
  end
  redis.call('INCR', keys.erasures)  -- last: a full server refuses a script whose first write needs memory
  return {
    messages = erasure.deleted, summaries = #summaries_dropped, ledger_turns = erasure.turns,
    artifacts = erasure.dropped, quotes = quotations, sequences = erasure.sequences,
    quoting = erasure.quoting, turn_ends = erasure.turn_ends, artifact_ids = erasure.named,
    sender_ids = erasure.senders, known_by = erasure.names, answer_receipts = erasure.receipts,
    facts = #facts, reminders = reminders, fact_ids = facts, summary_ids = summaries_dropped, uncited_ids = uncited(keys, cited),
  }
end
