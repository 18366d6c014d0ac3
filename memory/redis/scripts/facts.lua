-- Facts of one context. A prelude; its script has checked the epoch.
-- USES: words

-- List a standing wish that holds under its writer, or take it from the list. keys: standing
local function list_standing(keys, id, fact, holds)
  if fact.kind == 'standing' and fact.said_by then
    local member = string.format('%s:%017.3f:%s', fact.said_by, fact.valid_from, id)
    if holds then
      redis.call('ZADD', keys.standing, 0, member)
    else
      redis.call('ZREM', keys.standing, member)
    end
  end
end

-- Close a fact that still holds. keys: facts, cited, standing
local function close_fact(keys, id, valid_to, closer)
  local record = redis.call('HGET', keys.facts, id)
  if record and not fields_of(record).valid_to then
    list_standing(keys, id, fields_of(record), false)
    redis.call('HSET', keys.facts, id, with_fields(record, { id = id, valid_to = valid_to, closed_by = closer }))
    add_word(keys.cited, 'closed:' .. closer, id)
  end
end

-- Store a fact. keys: facts, fact_order, cited, standing
local function put_fact(keys, id, record)
  local fact = fields_of(record)
  redis.call('HSET', keys.facts, id, record)
  list_standing(keys, id, fact, not fact.valid_to)
  redis.call('ZADD', keys.fact_order, fact.valid_from, id)
  for _, message in ipairs(fact.message_ids) do add_word(keys.cited, message, id) end
  if fact.closed_by then add_word(keys.cited, 'closed:' .. fact.closed_by, id) end
end

-- Delete a fact. The facts that it has closed hold again, or end with the fact that closed this one.
-- Return the messages that it cited, or nil if there was none.
local function drop_fact(keys, id)
  local record = redis.call('HGET', keys.facts, id)
  if not record then return nil end
  local fact = fields_of(record)
  local messages = fact.message_ids or {}
  list_standing(keys, id, fact, false)
  redis.call('HDEL', keys.facts, id)
  redis.call('ZREM', keys.fact_order, id)
  for _, message in ipairs(messages) do remove_word(keys.cited, message, id) end
  if fact.closed_by then remove_word(keys.cited, 'closed:' .. fact.closed_by, id) end
  for closed in words(redis.call('HGET', keys.cited, 'closed:' .. id)) do
    local before = redis.call('HGET', keys.facts, closed)
    if before then
      redis.call('HSET', keys.facts, closed, with_fields(before, { id = closed }))
      list_standing(keys, closed, fields_of(before), true)
      if fact.closed_by then close_fact(keys, closed, fact.valid_to, fact.closed_by) end
    end
  end
  redis.call('HDEL', keys.cited, 'closed:' .. id)
  return messages
end

-- Queue index work for these messages, each once: their keys have changed. Return those that exist.
local function reindex(keys, context, epoch, ids)
  local found, is_queued = {}, {}
  for _, id in ipairs(ids) do
    if not is_queued[id] and redis.call('ZSCORE', keys.order, id) then
      redis.call('XADD', keys.work, '*', 'op', 'index', 'context', context, 'epoch', epoch, 'id', id)
      found[#found + 1], is_queued[id] = id, true
    end
  end
  return found
end

-- Return those of the messages that no fact cites any more.
local function uncited(keys, messages)
  local found = {}
  for _, id in ipairs(messages) do
    if redis.call('HEXISTS', keys.cited, id) == 0 then found[#found + 1] = id end
  end
  return found
end

-- Delete these facts. keys: facts, fact_order, cited, standing, order, work, meta, erasures
-- Return the ids of those that existed, and of the messages that they cited and that exist, each once.
local function drop_facts(keys, context, epoch, ids)
  local dropped, cited = {}, {}
  for _, id in ipairs(ids) do
    local messages = drop_fact(keys, id)
    if messages then
      dropped[#dropped + 1] = id
      add_all(cited, messages)
    end
  end
  if #dropped > 0 then
    redis.call('HINCRBY', keys.meta, 'facts_version', 1)
    redis.call('INCR', keys.erasures)
  end
  return dropped, reindex(keys, context, epoch, cited)
end
