-- Save the facts of messages and note these as read, if nothing that was loaded has changed. All of it, or nothing.
-- USES: facts end_extraction
-- KEYS: extract epoch meta order facts fact_order cited unread work erasures
-- ARGV: context_id token expected_epoch revision version save:json
-- save: FactSave (memory/facts/queue.py)
-- Reply: saved (now or by an earlier try) | stale (messages, facts or choices have changed) |
--        lost (the claim is not ours any more) | forgotten (reset since)
if (redis.call('GET', epoch) or '0') ~= expected_epoch then
  return 'forgotten'
end
if redis.call('ZSCORE', extract, context_id) ~= token then
  return 'lost'
end
local state = redis.call('HMGET', meta, 'revision', 'facts_version', 'facts_saved')
if state[3] == save.id then
  return 'saved'
end
if (state[1] or '0') ~= revision or (state[2] or '0') ~= version then
  return 'stale'
end

local cited = {}
local function note(ids)
  for _, id in ipairs(ids) do
    cited[#cited + 1] = id
  end
end

-- Store a new fact with its contradictions: the earlier statement ends when the later one begins.
local function save_fact(row)
  local from, is_replaced = tonumber(number_of(row.json, 'valid_from')), {}
  for _, id in ipairs(row.replaces) do
    is_replaced[id] = true
  end
  local id, json = row.id, '{"id":"' .. row.id .. '"' .. row.json
  local same = redis.call('HGET', facts, id)
  if same and is_open(same) and not is_replaced[id] then
    return  -- it is known
  end
  if same then
    id, json = row.repeated_id, '{"id":"' .. row.repeated_id .. '"' .. row.json
  end
  if redis.call('HEXISTS', facts, id) == 1 then
    return
  end
  for _, other in ipairs(row.replaces) do
    local before = redis.call('HGET', facts, other)
    if before and is_open(before) then
      local begun = number_of(before, 'valid_from')
      if tonumber(begun) <= from then
        close_fact(keys, other, number_of(json, 'valid_from'), id)
        note(messages_of(before))
      elseif is_open(json) then
        json = with_end(json, begun, other)
      end
    end
  end
  put_fact(keys, id, json)
  note(messages_of(json))
end

-- Return the ids of the facts to drop from a full context: the oldest that ended, then the oldest.
local function superfluous(number)
  local ended, others = {}, {}
  for _, id in ipairs(number > 0 and redis.call('ZRANGE', fact_order, 0, -1) or {}) do
    local list = is_open(redis.call('HGET', facts, id)) and others or ended
    list[#list + 1] = id
  end
  local ids = {}
  for at = 1, number do
    ids[at] = ended[at] or others[at - #ended]
  end
  return ids
end

for _, row in ipairs(save.facts) do
  save_fact(row)
end
reindex(keys, context_id, expected_epoch, cited)
drop_facts(keys, context_id, expected_epoch, superfluous(redis.call('ZCARD', fact_order) - save.limit))
mark_read(keys, save.page)
redis.call('HINCRBY', meta, 'facts_version', 1)
redis.call('HSET', meta, 'facts_saved', save.id)
return 'saved'
