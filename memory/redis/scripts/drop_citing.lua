-- Drop the facts that rest on messages which were deleted or edited. A prelude; its script has checked the epoch.
-- USES: facts

-- Note messages that exist as unread again, and queue the context for now, if facts are extracted here. Messages before
-- `facts_from` are read later. keys: order, meta, unread, choices, extract
local function read_again(keys, context, ids)
  local from = redis.call('HGET', keys.meta, 'facts_from')
  if not from or redis.call('HGET', keys.choices, 'facts') == 'off' then return end
  for _, id in ipairs(ids) do
    local sequence = redis.call('ZSCORE', keys.order, id)
    if sequence and tonumber(sequence) >= tonumber(from) then
      redis.call('ZADD', keys.unread, sequence, id)
      redis.call('ZADD', keys.extract, 'NX', 0, context)
    end
  end
end

-- Delete the facts that cite these messages, which were deleted or edited: their statements may tell the old text. What
-- the other messages say alone is read again. Return the ids of the facts, and of the messages that still exist.
local function drop_citing(keys, context, epoch, messages)
  local ids = {}
  for _, message in ipairs(messages) do
    for id in words(redis.call('HGET', keys.cited, message)) do ids[#ids + 1] = id end
  end
  local dropped, others = drop_facts(keys, context, epoch, ids)
  read_again(keys, context, others)
  return dropped, others
end
