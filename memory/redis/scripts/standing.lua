-- The standing wishes of writers. A prelude.
-- USES: records

-- Return the newest wishes that hold of each sender of these updates, as JSON. keys: facts, standing
local function standing_of(keys, updates, limit)
  local ids, is_known = {}, {}
  if redis.call('EXISTS', keys.standing) == 0 then return ids end
  for _, update in ipairs(updates) do
    local sender = (fields_of(update).message or {}).sender_id
    if sender and not is_known[sender] then
      is_known[sender] = true
      local from, upto = '[' .. sender .. ':', '(' .. sender .. ';'  -- ";" comes after ":"
      for _, member in ipairs(redis.call('ZREVRANGEBYLEX', keys.standing, upto, from, 'LIMIT', 0, limit)) do
        ids[#ids + 1] = string.match(member, '^[^:]*:[^:]*:(.*)$')
      end
    end
  end
  return fields_at(keys.facts, ids)
end
