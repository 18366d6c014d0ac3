-- Count what still mentions messages that were deleted.
-- USES: drop_traces reminders
-- KEYS: summaries lineage ledger people senders messages telegram facts cited reminders due
-- ARGV: prefixes:json deleted:json
-- Reply: RecordCounts (memory/keys.py) as JSON; `people` have a name here and no message

-- Return true if the JSON of a summary's messages has one of the deleted ones.
local function covers_deleted(json)
  for _, id in ipairs(deleted.message_ids) do
    if string.find(json, '"' .. id .. '"', 1, true) then
      return true
    end
  end
  return false
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
    repeats = repeats or is_dropped[id] or covers_deleted(redis.call('HGET', summaries, 'covers:' .. id) or '')
    if repeats and not is_dropped[id] then
      count = count + 1
    end
  end
  return count
end

local turns, live, receipts, named, quotations, gone = 0, 0, 0, 0, 0, {}
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
  for id in string.gmatch(redis.call('HGET', telegram, 'q:' .. name) or '', '%S+') do
    local json = redis.call('HGET', messages, id)
    quotations = quotations + (json and string.find(json, ',"quote":{', 1, true) and 1 or 0)
  end
end
for _, id in ipairs(deleted.message_ids) do
  gone[id] = true
  receipts = receipts + redis.call('EXISTS', prefixes.receipts .. id)
end
-- A fact of the same statement may have been derived from another message meanwhile.
local citing = 0
for _, id in ipairs(deleted.fact_ids) do
  local json = redis.call('HGET', facts, id) or ''
  for _, message in ipairs(deleted.message_ids) do
    citing = citing + (string.find(json, '"' .. message .. '"', 1, true) and 1 or 0)
  end
end
for _, id in ipairs(deleted.message_ids) do
  citing = citing + redis.call('HEXISTS', cited, id)
end
if #deleted.sequences > 0 then
  turns = turns + #find_quoting_turns(ledger, oldest_since(0, deleted.sequences), gone)
end
return cjson.encode({
  summaries = count_summaries(), ledger_turns = turns, artifacts = live, people = named, quotes = quotations,
  answer_receipts = receipts, facts = citing, reminders = #reminders_of(reminders, deleted.message_ids),
})
