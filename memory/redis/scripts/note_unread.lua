-- The messages of a turn that are to be read for facts. A prelude.
-- USES: extraction

-- Note appended messages as unread, and queue the context, if facts are extracted here.
-- keys: extract, unread, choices, meta; rows, sequences: of the messages; by_default: 'on' or 'off'
-- The first time, older messages are noted as not read, unless somebody has chosen: then only new ones are read.
local function note_unread(keys, context, now, rows, sequences, by_default)
  local choice = redis.call('HGET', keys.choices, 'facts')
  if (choice or by_default) ~= 'on' then return end
  local noted = 0
  for number, row in ipairs(rows) do
    if row.is_source and redis.call('HEXISTS', keys.choices, 'off:' .. row.sender_id) == 0 then
      noted = noted + redis.call('ZADD', keys.unread, sequences[number], row.id)
    end
  end
  if noted > 0 then
    redis.call('HSETNX', keys.meta, 'facts_from', choice and '0' or string.format('%.0f', sequences[1]))
    queue_extraction(keys, context, now)
  end
end
