-- Count what still mentions messages that were deleted.
-- USES: drop_traces reminders
-- KEYS: meta lineage ledger people senders messages telegram facts cited reminders due
-- ARGV: prefixes:json deleted:json
-- Reply: RecordCounts (memory/keys.py) as JSON; `people` have a name here and no message
local start = tonumber(redis.call('HGET', meta, 'conversation_start') or '0')
local covering, turns, live, receipts, named, quotations, gone = 0, 0, 0, 0, 0, 0, {}
for _, sequence in ipairs(deleted.sequences) do
  if sequence >= start then
    covering = math.max(covering, redis.call('ZCOUNT', lineage, sequence, '+inf'))
  end
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
  summaries = covering, ledger_turns = turns, artifacts = live, people = named, quotes = quotations,
  answer_receipts = receipts, facts = citing, reminders = #reminders_of(reminders, deleted.message_ids),
})
