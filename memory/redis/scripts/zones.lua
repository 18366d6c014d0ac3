-- Read the time zones of people. A prelude.
-- USES: records

-- zones: key of the partition's copy of all zones
-- people: {sender id, name, ...}; texts: JSON of messages, talk or updates by further people
-- Return {sender id, zone, ...} of those who have chosen one; of some twice.
local function zones_of(zones, people, texts)
  local ids, found = {}, {}
  if redis.call('EXISTS', zones) == 0 then return found end
  for at = 1, #people, 2 do ids[#ids + 1] = people[at] end
  for _, text in ipairs(texts) do
    local record = fields_of(text)
    ids[#ids + 1] = (record.sender or {}).id or (record.message or {}).sender_id
  end
  for at, zone in ipairs(fields_at(zones, ids)) do
    if zone then found[#found + 1], found[#found + 2] = ids[at], zone end
  end
  return found
end
