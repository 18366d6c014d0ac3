-- The facts that cite a message. A prelude.
-- USES: records

-- Return the facts as JSON. keys: cited, facts
local function cited_facts(keys, message_id)
  local found = {}
  for id in words(redis.call('HGET', keys.cited, message_id)) do
    found[#found + 1] = redis.call('HGET', keys.facts, id) or nil
  end
  return found
end
