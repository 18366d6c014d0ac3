-- Read the time zones of people. A prelude.
-- USES: records

-- zones: key of the partition's copy of all zones
-- people: {sender id, name, ...}; texts: JSON of messages, talk or updates by further people
-- Return {sender id, zone, ...} of those who have chosen one.
local function zones_of(zones, people, texts)
  local ids, is_known, found = {}, {}, {}
  if redis.call('EXISTS', zones) == 0 then
    return found
  end
  local function add(id)
    if id and not is_known[id] then
      ids[#ids + 1], is_known[id] = id, true
    end
  end
  for at = 1, #people, 2 do
    add(people[at])
  end
  for _, text in ipairs(texts) do
    local record = fields_of(text)
    add((record.sender or {}).id or (record.message or {}).sender_id)
  end
  for at, zone in ipairs(fields_at(zones, ids)) do
    if zone then
      found[#found + 1], found[#found + 2] = ids[at], zone
    end
  end
  return found
end
