-- Save the facts of messages and note these as read, if nothing that was loaded has changed. All of it, or nothing.
-- USES: facts end_extraction
-- KEYS: extract epoch meta order facts fact_order cited standing unread work erasures
-- ARGV: context_id token expected_epoch:current revision version save:json
-- save: FactSave (memory/facts/queue.py)
-- Reply: saved (now or by an earlier try) | stale (messages, facts or choices have changed) |
--        lost (the claim is not ours any more)
if redis.call('ZSCORE', extract, context_id) ~= token then return 'lost' end
local state = redis.call('HMGET', meta, 'revision', 'facts_version', 'facts_saved')
if state[3] == save.id then return 'saved' end
if (state[1] or '0') ~= revision or (state[2] or '0') ~= version then return 'stale' end

local cited = {}

-- Store a new fact with its contradictions: the earlier statement ends when the later one begins.
local function save_fact(row)
  local new, id, is_replaced = fields_of(row.json), row.id, {}
  for _, other in ipairs(row.replaces) do is_replaced[other] = true end
  local same = redis.call('HGET', facts, id)
  if same and not fields_of(same).valid_to and not is_replaced[id] then return end  -- it is known
  id = same and row.repeated_id or id
  if redis.call('HEXISTS', facts, id) == 1 then return end
  local own = { id = id }
  for _, other in ipairs(row.replaces) do
    local before = fields_of(redis.call('HGET', facts, other))
    if before.id and not before.valid_to then
      if tonumber(before.valid_from) <= tonumber(new.valid_from) then
        close_fact(keys, other, new.valid_from, id)
        add_all(cited, before.message_ids)
      elseif not own.valid_to then
        own.valid_to, own.closed_by = before.valid_from, other
      end
    end
  end
  put_fact(keys, id, with_fields(row.json, own))
  add_all(cited, new.message_ids)
end

-- Return the ids of the facts to drop from a full context: the oldest that ended, then the oldest.
local function superfluous(number)
  local ended, others = {}, {}
  for _, id in ipairs(number > 0 and redis.call('ZRANGE', fact_order, 0, -1) or {}) do
    local list = fields_of(redis.call('HGET', facts, id)).valid_to and ended or others
    list[#list + 1] = id
  end
  local ids = {}
  for at = 1, number do ids[at] = ended[at] or others[at - #ended] end
  return ids
end

for _, row in ipairs(save.facts) do save_fact(row) end
reindex(keys, context_id, expected_epoch, cited)
drop_facts(keys, context_id, expected_epoch, superfluous(redis.call('ZCARD', fact_order) - save.limit))
mark_read(keys, save.page)
redis.call('HINCRBY', meta, 'facts_version', 1)
redis.call('HSET', meta, 'facts_saved', save.id)
return 'saved'
