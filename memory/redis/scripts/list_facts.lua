-- Read a page of a context's facts: standing wishes first, and each kind the newest first.
-- USES: records
-- KEYS: facts fact_order standing
-- ARGV: offset:number limit:number people...
-- people: sender ids; with any, only facts that are about one of them, or said by one
-- Reply: {how many there are in all, {fact, ...}}
local is_wanted = {}
for _, id in ipairs(people) do
  is_wanted[id] = true
end

local is_standing, ids, others = {}, {}, {}
for _, member in ipairs(redis.call('ZRANGE', standing, 0, -1)) do
  is_standing[string.match(member, '^[^:]*:[^:]*:(.*)$')] = true
end
for _, id in ipairs(redis.call('ZREVRANGE', fact_order, 0, -1)) do
  local list = is_standing[id] and ids or others
  list[#list + 1] = id
end
for _, id in ipairs(others) do
  ids[#ids + 1] = id
end
if #people == 0 then
  local page = {}
  for at = offset + 1, math.min(offset + limit, #ids) do
    page[#page + 1] = ids[at]
  end
  return { #ids, fields_at(facts, page) }
end
local total, found = 0, {}
for _, json in ipairs(fields_at(facts, ids)) do
  local fact = fields_of(json)
  if is_wanted[fact.subject_id or ''] or is_wanted[fact.said_by or ''] then
    total = total + 1
    if total > offset and #found < limit then
      found[#found + 1] = json
    end
  end
end
return { total, found }
