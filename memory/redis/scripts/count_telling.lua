-- Count what still tells of messages that were deleted.
-- KEYS: meta, lineage, ledger, people, senders, messages, telegram
-- ARGV: prefix of artifact keys, then four lists, each after its length: the sequences of the messages, the ids of
--       artifacts, the ids of senders, what the messages were known by; then the ids of messages ...
-- Reply: {summaries, ledger turns, artifacts, people who have a name here and no message, quotations}
local meta, lineage, ledger, people_key, senders_key, messages_key, telegram_key = unpack(KEYS)
local artifact_prefix, at = ARGV[1], 2

local function read_list()
  local first, last = at + 1, at + tonumber(ARGV[at])
  local list = {}
  for number = first, last do
    list[#list + 1] = ARGV[number]
  end
  at = last + 1
  return list
end

local sequences, named, wrote, names = read_list(), read_list(), read_list(), read_list()
local start = tonumber(redis.call('HGET', meta, 'conversation_start') or '0')
local summaries, turns, artifacts, people, quotations, gone = 0, 0, 0, 0, 0, {}
for _, sequence in ipairs(sequences) do
  if tonumber(sequence) >= start then
    summaries = math.max(summaries, redis.call('ZCOUNT', lineage, sequence, '+inf'))
  end
  if find_ledger_turn(ledger, sequence) then
    turns = turns + 1
  end
end
for _, id in ipairs(named) do
  gone[id] = true
  artifacts = artifacts + redis.call('EXISTS', artifact_prefix .. id)
end
for _, sender_id in ipairs(wrote) do
  if redis.call('HEXISTS', senders_key, sender_id) == 0 then
    people = people + redis.call('HEXISTS', people_key, sender_id)
  end
end
for _, name in ipairs(names) do
  for id in string.gmatch(redis.call('HGET', telegram_key, 'q:' .. name) or '', '%S+') do
    local json = redis.call('HGET', messages_key, id)
    quotations = quotations + (json and string.find(json, ',"quote":{', 1, true) and 1 or 0)
  end
end
for number = at, #ARGV do
  gone[ARGV[number]] = true
end
if #sequences > 0 then
  turns = turns + #find_quoting_turns(ledger, oldest_since(0, sequences), gone)
end
return { summaries, turns, artifacts, people, quotations }
