-- Read a page of a context's facts, the newest first.
-- KEYS: facts fact_order
-- ARGV: offset:number limit:number people...
-- people: sender ids; with any, only facts that are about one of them, or said by one
-- Reply: {how many there are in all, {fact, ...}}
local function is_of_people(json)
  for _, id in ipairs(people) do
    local about, by = '"subject_id":' .. id .. ',', '"said_by":' .. id .. ','
    if string.find(json, about, 1, true) or string.find(json, by, 1, true) then
      return true
    end
  end
  return false
end

if #people == 0 then
  local ids = limit > 0 and redis.call('ZREVRANGE', fact_order, offset, offset + limit - 1) or {}
  return { redis.call('ZCARD', fact_order), #ids > 0 and redis.call('HMGET', facts, unpack(ids)) or {} }
end
local total, found = 0, {}
for _, id in ipairs(redis.call('ZREVRANGE', fact_order, 0, -1)) do
  local json = redis.call('HGET', facts, id)
  if json and is_of_people(json) then
    total = total + 1
    if total > offset and #found < limit then
      found[#found + 1] = json
    end
  end
end
return { total, found }
