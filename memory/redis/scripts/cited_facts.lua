-- The facts that cite a message. A prelude.

-- Return the facts as JSON. keys: cited, facts
local function cited_facts(keys, message_id)
  local found = {}
  for id in string.gmatch(redis.call('HGET', keys.cited, message_id) or '', '%S+') do
    found[#found + 1] = redis.call('HGET', keys.facts, id) or nil
  end
  return found
end
