-- Count what still mentions messages that were deleted.
-- USES: ledger reminders
-- KEYS: summaries lineage ledger people senders messages telegram facts cited reminders due
-- ARGV: prefixes:json deleted:json
-- Reply: RecordCounts (memory/keys.py) as JSON; `people` have a name here and no message

local gone = {}
for _, id in ipairs(deleted.message_ids) do
  gone[id] = true
end

-- Return how many of these messages were deleted.
local function count_deleted(ids)
  local count = 0
  for _, id in ipairs(ids) do
    count = count + (gone[id] and 1 or 0)
  end
  return count
end

-- Count the dropped summaries that still exist, and those that were made of a deleted message. A later summary repeats
-- the ones before it. A summary that was made after the deletion, of the messages that remain, mentions none.
local function count_summaries()
  local count, is_dropped, repeats = 0, {}, false
  for _, id in ipairs(deleted.summary_ids) do
    is_dropped[id] = true
    count = count + redis.call('HEXISTS', summaries, id)
  end
  for _, id in ipairs(redis.call('ZRANGE', lineage, 0, -1)) do
    repeats = repeats or is_dropped[id] or count_deleted(cjson.decode(redis.call('HGET', summaries, 'covers:' .. id) or '[]')) > 0
    if repeats and not is_dropped[id] then
      count = count + 1
    end
  end
  return count
end

local turns, live, receipts, named, quotations, citing = 0, 0, 0, 0, 0, 0
for _, sequence in ipairs(deleted.sequences) do
  if find_ledger_turn(ledger, sequence) then
    turns = turns + 1
  end
end
for _, id in ipairs(deleted.artifact_ids) do
  gone[id] = true
  live = live + redis.call('EXISTS', prefixes.artifacts .. id)
end
for _, sender_id in ipairs(deleted.sender_ids) do
  if redis.call('HEXISTS', senders, sender_id) == 0 then
    named = named + redis.call('HEXISTS', people, sender_id)
  end
end
for _, name in ipairs(deleted.known_by) do
  for id in words(redis.call('HGET', telegram, 'q:' .. name)) do
    quotations = quotations + (fields_of(redis.call('HGET', messages, id)).quote and 1 or 0)
  end
end
for _, id in ipairs(deleted.message_ids) do
  receipts = receipts + redis.call('EXISTS', prefixes.receipts .. id)
  citing = citing + redis.call('HEXISTS', cited, id)
end
-- A fact of the same statement may have been derived from another message meanwhile.
for _, id in ipairs(deleted.fact_ids) do
  citing = citing + count_deleted(fields_of(redis.call('HGET', facts, id)).message_ids or {})
end
if #deleted.sequences > 0 then
  turns = turns + #find_quoting_turns(ledger, oldest_since(-2 ^ 53, deleted.sequences), gone)
end
return cjson.encode({
  summaries = count_summaries(), ledger_turns = turns, artifacts = live, people = named, quotes = quotations,
  answer_receipts = receipts, facts = citing, reminders = #reminders_of(reminders, deleted.message_ids),
})
