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
  for at = 1, #people, 2 do
    ids[#ids + 1], is_known[people[at]] = people[at], true
  end
  for _, text in ipairs(texts) do
    local record = fields_of(text)
    local id = (record.sender or {}).id or (record.message or {}).sender_id
    if id and not is_known[id] then
      ids[#ids + 1], is_known[id] = id, true
    end
  end
  for from = 1, #ids, 1000 do  -- `unpack` takes a few thousand values
    local last = math.min(from + 999, #ids)
    for at, zone in ipairs(redis.call('HMGET', zones, unpack(ids, from, last))) do
      if zone then
        found[#found + 1], found[#found + 2] = ids[from + at - 1], zone
      end
    end
  end
  return found
end
