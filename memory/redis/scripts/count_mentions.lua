-- Count what still mentions messages that were deleted.
-- USES: ledger reminders
-- KEYS: summaries lineage ledger people senders messages telegram facts cited reminders due artifact receipt
-- ARGV: deleted:json
-- Reply: RecordCounts (memory/keys.py) as JSON; `people` have a name here and no message

local gone = {}
for _, ids in ipairs({ deleted.message_ids, deleted.artifact_ids, deleted.summary_ids }) do
  for _, id in ipairs(ids) do gone[id] = true end
end

local function is_gone(id)
  return gone[id] and 1 or 0
end

-- Return the sum of what `count` returns for each of these.
local function sum(list, count)
  local total = 0
  for _, each in ipairs(list) do total = total + count(each) end
  return total
end

-- Count the dropped summaries that still exist, and those that were made of a deleted message. A later summary repeats
-- the ones before it. A summary that was made after the deletion, of the messages that remain, mentions none.
local function count_summaries()
  local count = sum(deleted.summary_ids, function(id) return redis.call('HEXISTS', summaries, id) end)
  local repeats = false
  for _, id in ipairs(redis.call('ZRANGE', lineage, 0, -1)) do
    local covers = cjson.decode(redis.call('HGET', summaries, 'covers:' .. id) or '[]')
    repeats = repeats or gone[id] or sum(covers, is_gone) > 0
    count = count + (repeats and not gone[id] and 1 or 0)
  end
  return count
end

local function count_turns()
  local first = oldest_since(-2 ^ 53, deleted.sequences)
  local own = sum(deleted.sequences, function(at) return find_ledger_turn(ledger, at) and 1 or 0 end)
  return own + (first and #find_quoting_turns(ledger, first, gone) or 0)
end

local function count_quotations(name)
  local count = 0
  for id in words(redis.call('HGET', telegram, 'q:' .. name)) do
    count = count + (fields_of(redis.call('HGET', messages, id)).quote and 1 or 0)
  end
  return count
end

-- A fact of the same statement may have been derived from another message meanwhile.
local function count_cited(fact_id)
  return sum(fields_of(redis.call('HGET', facts, fact_id)).message_ids or {}, is_gone)
end

return cjson.encode({
  summaries = count_summaries(),
  ledger_turns = count_turns(),
  artifacts = sum(deleted.artifact_ids, function(id) return redis.call('EXISTS', artifact .. ':' .. id) end),
  people = sum(deleted.sender_ids, function(id)
    return math.max(0, redis.call('HEXISTS', people, id) - redis.call('HEXISTS', senders, id))
  end),
  quotes = sum(deleted.known_by, count_quotations),
  answer_receipts = sum(deleted.message_ids, function(id) return redis.call('EXISTS', receipt .. ':' .. id) end),
  facts = sum(deleted.message_ids, function(id) return redis.call('HEXISTS', cited, id) end)
    + sum(deleted.fact_ids, count_cited),
  reminders = #reminders_of(reminders, deleted.message_ids),
})
