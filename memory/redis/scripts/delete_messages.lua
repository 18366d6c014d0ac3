-- Delete messages of one context with everything that mentions them: summaries, their turns of the ledger, later turns
-- that quote them, the artifacts of these turns, their receipts, quotations in other messages, senders without another
-- message, facts and reminders that rest on them or on a message that loses a quotation. Queue the removal of the
-- messages' vectors. Raise `erasures`: the words are unreachable now.
-- A prelude; its script has checked the epoch.
-- USES: drop_traces people reminders

-- Delete one message and note what must be dropped because of it. One with a husk keeps its place and its facts.
local function delete_message(keys, context, epoch, id, erasure)
  local sequence = redis.call('ZSCORE', keys.order, id)
  local record = redis.call('HGET', keys.messages, id)
  local message = fields_of(record)
  add_all(erasure.known_by, names_of(keys.telegram, id))
  local husk = sequence and erasure.expiry.husks[id]
  if husk then
    redis.call('HSET', keys.messages, id, husk)
    redis.call('HDEL', keys.telegram, 'photos:' .. id)
  else
    redis.call('HDEL', keys.messages, id)
    redis.call('ZREM', keys.order, id)
    unlink_telegram(keys.telegram, id)
  end
  redis.call('ZREM', keys.unread, id)
  erasure.answer_receipts = erasure.answer_receipts + drop_listed(keys.receipts, keys.receipt, id)
  if record or sequence then
    erasure.messages = erasure.messages + 1
    redis.call('XADD', keys.work, '*', 'op', husk and 'index' or 'drop', 'context', context, 'epoch', epoch, 'id', id)
  end
  remove_word(keys.telegram, 'q:' .. quoted_in(message), id)
  erasure.changed[#erasure.changed + 1] = id
  if sequence then
    erasure.sender_ids[#erasure.sender_ids + 1] = not husk and uncount_sender(keys, message) or nil
    erasure.sequences[#erasure.sequences + 1], erasure.gone[id] = sequence, true
    erasure.mentioning[#erasure.mentioning + 1] = sequence
    drop_turn_at(keys, erasure, sequence)
  end
end

-- keys: messages, order, telegram, meta, work, people, senders, sessions, summaries, lineage, ledger, artifacts, compress,
--   receipts, artifact, receipt, erasures, and those of drop_citing.lua and reminders.lua
-- ids: of the messages; quoted: Telegram ids of other messages whose quotations are dropped too
-- expiry: nil, or that of messages which became too old: {now, summarize_at (Unix seconds), keeps_facts, husks (message
-- id → its JSON without words)}. Their reminders stay, and with `keeps_facts` all facts.
-- unquoted: messages that lose their quotation, whatever it quotes, or nil
-- A message that loses a quotation counts as deleted for summaries and ledger: they may tell the quotation.
-- Return the fields of a Deletion (memory/history/store.py) without message_ids: what existed.
local function delete_messages(keys, context, epoch, ids, quoted, expiry, unquoted)
  local erasure = begin_erasure(expiry)
  erasure.messages, erasure.answer_receipts = 0, 0
  erasure.sequences, erasure.sender_ids, erasure.known_by = {}, {}, {}
  add_all(erasure.known_by, quoted)
  for _, id in ipairs(ids) do delete_message(keys, context, epoch, id, erasure) end
  drop_quotations(keys, erasure, erasure.known_by)
  for _, id in ipairs(unquoted or {}) do drop_quotation_of(keys, erasure, id) end
  for _, sequence in ipairs(erasure.quoting) do drop_turn_at(keys, erasure, sequence) end
  if erasure.messages + #erasure.quoting > 0 then
    redis.call('HINCRBY', keys.meta, 'revision', 1)
  end
  erasure.uncited_ids = uncited(keys, drop_tellers(keys, context, epoch, erasure))
  erasure.summaries, erasure.quotes, erasure.facts = #erasure.summary_ids, #erasure.quoting, #erasure.fact_ids
  erasure.reminders = 0
  for _, id in ipairs(expiry and {} or reminders_of(keys.reminders, erasure.changed)) do
    erasure.reminders = erasure.reminders + drop_reminder(keys, context, id)
  end
  if redis.call('EXISTS', keys.order) == 0 then
    redis.call('UNLINK', keys.sessions)
    redis.call('HDEL', keys.meta, 'session_start', 'last_sent_at')
  end
  redis.call('INCR', keys.erasures)  -- last: a full server refuses a script whose first write needs memory
  erasure.gone, erasure.mentioning, erasure.changed, erasure.expiry = nil, nil, nil, nil
  return erasure
end

-- Return a deletion as JSON, without its empty lists: cjson writes them as objects.
local function deletion_as_json(deletion)
  for name, value in pairs(deletion) do
    if type(value) == 'table' and #value == 0 then deletion[name] = nil end
  end
  return cjson.encode(deletion)
end
