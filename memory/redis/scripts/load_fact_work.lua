-- Read the next messages to read for facts, with what the model must know.
-- USES: named zones
-- KEYS: epoch meta messages order people choices unread facts fact_order contexts local_zones
-- ARGV: context_id limit:number before:number reads_older
-- before: how many messages before the first one are returned; reads_older: '1' if older messages may be read now
-- Reply, named: epoch, revision, facts_version, first_sequence, entry (in the registry), choices {choice, value, ...},
--   people {sender id, name, ...}, is_older, ids {unread id, ...}, rows {id, sequence, json, ...} of these oldest first,
--   around {id, sequence, json, ...} of messages around them, since {sender id, first sequence to read, ...},
--   of_writers {fact, ...} that hold about a writer of these messages, of_others {fact, ...} that hold about others,
--   newest first, zones {sender id, zone, ...}
local OF_WRITERS, OF_OTHERS = 60, 300
local state = redis.call('HMGET', meta, 'revision', 'facts_version', 'facts_from', 'first_sequence')
local ids, rows, is_older = {}, {}

local function add_row(list, id, sequence)
  local json = redis.call('HGET', messages, id)
  if json then
    list[#list + 1], list[#list + 2], list[#list + 3] = id, sequence, json
  end
  return json
end

local slice = redis.call('ZRANGE', unread, 0, limit - 1, 'WITHSCORES')
for at = 1, #slice, 2 do
  ids[#ids + 1] = slice[at]
end
if #slice == 0 and reads_older == '1' and state[3] and tonumber(state[3]) > tonumber(state[4] or '0') then
  is_older = 1
  local newest = redis.call('ZREVRANGEBYSCORE', order, '(' .. state[3], '-inf', 'WITHSCORES', 'LIMIT', 0, limit)
  for at = #newest - 1, 1, -2 do
    slice[#slice + 1], slice[#slice + 2] = newest[at], newest[at + 1]
  end
end

local is_writer, is_known, since, around = {}, {}, {}, {}
for at = 1, #slice, 2 do
  is_known[slice[at]] = true
end
for at = 1, #slice, 2 do
  local json = add_row(rows, slice[at], slice[at + 1])
  local writer = (fields_of(json).sender or {}).id
  if writer and not is_writer[writer] then
    is_writer[writer] = true
    local first = redis.call('HGET', meta, 'facts_since:' .. writer)
    if first then
      since[#since + 1], since[#since + 2] = writer, first
    end
  end
  local reach = at == 1 and before or 2
  local earlier = redis.call('ZREVRANGEBYSCORE', order, '(' .. slice[at + 1], '-inf', 'WITHSCORES', 'LIMIT', 0, reach)
  for place = 1, #earlier, 2 do
    if not is_known[earlier[place]] then
      is_known[earlier[place]] = true
      add_row(around, earlier[place], earlier[place + 1])
    end
  end
end

local of_writers, of_others, offset = {}, {}, 0
repeat
  local page = redis.call('ZREVRANGE', fact_order, offset, offset + 99)
  for _, json in ipairs(fields_at(facts, page)) do
    local fact = fields_of(json)
    if fact.id and not fact.valid_to then
      local list, most = of_others, OF_OTHERS
      if is_writer[fact.subject_id or ''] then
        list, most = of_writers, OF_WRITERS
      end
      list[#list + 1] = #list < most and json or nil
    end
  end
  offset = offset + 100
until #page == 0 or (#of_writers == OF_WRITERS and #of_others == OF_OTHERS)

local known = redis.call('HGETALL', people)
return named({
  epoch = redis.call('GET', epoch),
  revision = state[1],
  facts_version = state[2],
  first_sequence = state[4],
  entry = redis.call('HGET', contexts, context_id),
  choices = redis.call('HGETALL', choices),
  people = known,
  is_older = is_older,
  ids = ids,
  rows = rows,
  around = around,
  since = since,
  of_writers = of_writers,
  of_others = of_others,
  zones = zones_of(local_zones, known, {}),
})
