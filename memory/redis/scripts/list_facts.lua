-- Read a page of a context's facts, the newest first.
-- USES: records
-- KEYS: facts fact_order
-- ARGV: offset:number limit:number people...
-- people: sender ids; with any, only facts that are about one of them, or said by one
-- Reply: {how many there are in all, {fact, ...}}
local is_wanted = {}
for _, id in ipairs(people) do
  is_wanted[id] = true
end

if #people == 0 then
  local ids = limit > 0 and redis.call('ZREVRANGE', fact_order, offset, offset + limit - 1) or {}
  return { redis.call('ZCARD', fact_order), fields_at(facts, ids) }
end
local total, found = 0, {}
for _, json in ipairs(fields_at(facts, redis.call('ZREVRANGE', fact_order, 0, -1))) do
  local fact = fields_of(json)
  if is_wanted[fact.subject_id or ''] or is_wanted[fact.said_by or ''] then
    total = total + 1
    if total > offset and #found < limit then
      found[#found + 1] = json
    end
  end
end
return { total, found }
