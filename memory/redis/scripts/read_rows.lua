-- Read the messages of a slice of the order. A prelude.
-- USES: records

-- slice: {id, sequence, ...}. Return {id, sequence, json, ...}, without messages that have no text.
local function read_rows(messages_key, slice)
  local rows = {}
  for at = 1, #slice, 2 do
    local json = redis.call('HGET', messages_key, slice[at])
    if json then add_all(rows, { slice[at], slice[at + 1], json }) end
  end
  return rows
end
