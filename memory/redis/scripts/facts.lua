-- Facts of one context. A prelude; its script has checked the epoch. A fact's JSON is never decoded, because ids would
-- become doubles. No string in it can contain the marks that are searched here: quotation marks are escaped.

local function words(text)
  return string.gmatch(text or '', '%S+')
end

local function add_word(key, field, word)
  local known = redis.call('HGET', key, field)
  redis.call('HSET', key, field, known and (known .. ' ' .. word) or word)
end

local function remove_word(key, field, word)
  local others = {}
  for other in words(redis.call('HGET', key, field)) do
    if other ~= word then
      others[#others + 1] = other
    end
  end
  if #others > 0 then
    redis.call('HSET', key, field, table.concat(others, ' '))
  else
    redis.call('HDEL', key, field)
  end
end

-- Return the ids of the messages that a fact cites.
local function messages_of(json)
  local ids = {}
  for id in string.gmatch(string.match(json, '"message_ids":%[([^%]]*)%]') or '', '"([^"]+)"') do
    ids[#ids + 1] = id
  end
  return ids
end

-- Return a number of a fact as it is written, or nil.
local function number_of(json, name)
  return string.match(json, '"' .. name .. '":(-?[%d.eE+-]+)')
end

local function is_open(json)
  return not string.find(json, ',"valid_to":', 1, true)
end

-- Return the JSON of a fact with its end and the fact that closed it.
local function with_end(json, valid_to, closer)
  local at = string.find(json, ',"confidence":', 1, true)
  local ending = ',"valid_to":' .. valid_to .. ',"closed_by":"' .. closer .. '"'
  return string.sub(json, 1, at - 1) .. ending .. string.sub(json, at)
end

-- Close a fact that still holds. keys: facts, cited
local function close_fact(keys, id, valid_to, closer)
  local json = redis.call('HGET', keys.facts, id)
  if json and is_open(json) then
    redis.call('HSET', keys.facts, id, with_end(json, valid_to, closer))
    add_word(keys.cited, 'closed:' .. closer, id)
  end
end

-- Store a fact. keys: facts, fact_order, cited
local function put_fact(keys, id, json)
  redis.call('HSET', keys.facts, id, json)
  redis.call('ZADD', keys.fact_order, number_of(json, 'valid_from'), id)
  for _, message in ipairs(messages_of(json)) do
    add_word(keys.cited, message, id)
  end
  local closer = string.match(json, '"closed_by":"([^"]+)"')
  if closer then
    add_word(keys.cited, 'closed:' .. closer, id)
  end
end

-- Delete a fact. The facts that it has closed hold again, or end with the fact that closed this one.
-- Return the messages that it cited, or nil if there was none.
local function drop_fact(keys, id)
  local json = redis.call('HGET', keys.facts, id)
  if not json then
    return nil
  end
  redis.call('HDEL', keys.facts, id)
  redis.call('ZREM', keys.fact_order, id)
  local messages, closer = messages_of(json), string.match(json, '"closed_by":"([^"]+)"')
  for _, message in ipairs(messages) do
    remove_word(keys.cited, message, id)
  end
  if closer then
    remove_word(keys.cited, 'closed:' .. closer, id)
  end
  for closed in words(redis.call('HGET', keys.cited, 'closed:' .. id)) do
    local before = redis.call('HGET', keys.facts, closed)
    if before then
      redis.call('HSET', keys.facts, closed, (string.gsub(before, ',"valid_to":[^,]+,"closed_by":"[^"]*"', '', 1)))
      if closer then
        close_fact(keys, closed, number_of(json, 'valid_to'), closer)
      end
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
    if redis.call('HEXISTS', keys.cited, id) == 0 then
      found[#found + 1] = id
    end
  end
  return found
end

-- Delete these facts. keys: facts, fact_order, cited, order, work, meta, erasures
-- Return the ids of those that existed, and of the messages that they cited and that exist, each once.
local function drop_facts(keys, context, epoch, ids)
  local dropped, cited = {}, {}
  for _, id in ipairs(ids) do
    local messages = drop_fact(keys, id)
    if messages then
      dropped[#dropped + 1] = id
      for _, message in ipairs(messages) do
        cited[#cited + 1] = message
      end
    end
  end
  if #dropped > 0 then
    redis.call('HINCRBY', keys.meta, 'facts_version', 1)
    redis.call('INCR', keys.erasures)
  end
  return dropped, reindex(keys, context, epoch, cited)
end
