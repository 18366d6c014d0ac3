-- Drop what tells messages that are deleted or edited: quotations in other messages, turns of the ledger with their
-- artifacts, summaries, facts. A prelude; its script has checked the epoch.
-- USES: ledger telegram_index drop_citing

-- Drop the summaries that cover this sequence: all that end there or later, because each repeats the ones before it.
-- The newest summary that does not cover it is the current one again. The compression is due then, at this time.
-- Return their ids. keys: summaries, lineage, compress
local function drop_summaries(keys, context_id, sequence, due)
  local covering = redis.call('ZRANGEBYSCORE', keys.lineage, sequence, '+inf')
  for _, id in ipairs(covering) do
    redis.call('HDEL', keys.summaries, id, 'covers:' .. id)
    redis.call('ZREM', keys.lineage, id)
  end
  if #covering > 0 then redis.call('ZADD', keys.compress, 'NX', due, context_id) end
  return covering
end

-- Return the record of an erasure. Most of its fields are those of a Deletion (memory/history/store.py).
-- gone: set of messages and artifacts that nothing may quote; mentioning: sequences of messages that told them
-- changed: ids of messages that were deleted or edited, or have lost a quotation
-- expiry: nil, or that of delete_messages.lua
local function begin_erasure(expiry)
  return {
    expiry = expiry or { husks = {} },
    gone = {}, mentioning = {}, changed = {}, ledger_turns = 0, artifacts = 0, quoting = {}, turn_ends = {},
    artifact_ids = {},
  }
end

-- Drop a turn of the ledger with its artifacts. keys: ledger, artifacts, artifact
local function drop_turn(keys, erasure, turn)
  erasure.ledger_turns = erasure.ledger_turns + redis.call('ZREM', keys.ledger, turn)
  for _, entry in ipairs(entries_with(turn, 'artifact_id')) do
    local id = entry.artifact_id
    erasure.artifact_ids[#erasure.artifact_ids + 1], erasure.gone[id] = id, true
    erasure.artifacts = erasure.artifacts + drop_listed(keys.artifacts, keys.artifact, id)
  end
end

-- Drop the turn of the ledger that has the message of this sequence.
local function drop_turn_at(keys, erasure, sequence)
  local turn = find_ledger_turn(keys.ledger, sequence)
  if turn then drop_turn(keys, erasure, turn) end
end

-- Take the quotation out of this message.
local function drop_quotation_of(keys, erasure, id)
  local sequence, record = redis.call('ZSCORE', keys.order, id), redis.call('HGET', keys.messages, id)
  local message = fields_of(record)
  if sequence and message.quote then
    redis.call('HSET', keys.messages, id, with_fields(record, {}))
    remove_word(keys.telegram, 'q:' .. quoted_in(message), id)
    erasure.quoting[#erasure.quoting + 1], erasure.mentioning[#erasure.mentioning + 1] = sequence, sequence
    erasure.changed[#erasure.changed + 1] = id
  end
end

-- Take the quotations of these names (`names_of`) out of other messages.
local function drop_quotations(keys, erasure, names)
  for _, name in ipairs(names) do
    for id in words(redis.call('HGET', keys.telegram, 'q:' .. name)) do
      drop_quotation_of(keys, erasure, id)
    end
    redis.call('HDEL', keys.telegram, 'q:' .. name)
  end
end

-- Drop the turns that quote what is gone, and those that quote their artifacts, the summaries that cover a message that
-- told it, and the facts that rest on changed messages. Return the messages that these facts cited and that exist.
-- keys: those of drop_citing.lua, and ledger, artifacts, artifact, summaries, lineage, compress
local function drop_tellers(keys, context, epoch, erasure)
  local expiry = erasure.expiry
  local oldest, before = oldest_since(-2 ^ 53, erasure.mentioning), -1
  if expiry.now and erasure.artifacts == 0 then
    before = #erasure.artifact_ids  -- expire_records.lua finds the turns that quote a message
  end
  while oldest and #erasure.artifact_ids > before do
    before = #erasure.artifact_ids
    for _, each in ipairs(find_quoting_turns(keys.ledger, oldest, erasure.gone)) do
      drop_turn(keys, erasure, each[1])
      erasure.turn_ends[#erasure.turn_ends + 1], erasure.mentioning[#erasure.mentioning + 1] = each[2], each[2]
    end
  end
  local start = redis.call('HGET', keys.meta, 'conversation_start') or '0'
  -- The first conversation's summary covers imported messages too.
  oldest = oldest_since(start == '0' and -2 ^ 53 or start, erasure.mentioning)
  erasure.summary_ids = oldest and drop_summaries(keys, context, oldest, expiry.summarize_at or 0) or {}
  local cited
  erasure.fact_ids, cited = drop_citing(keys, context, epoch, expiry.keeps_facts and {} or erasure.changed)
  return cited
end
