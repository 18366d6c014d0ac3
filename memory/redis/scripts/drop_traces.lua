-- Drop what mentions messages: summaries, turns of the ledger, their artifacts. A prelude.
-- USES: records

-- Drop the summaries that cover this sequence: all that end there or later, because each repeats the ones before it.
-- The newest summary that does not cover it is the current one again. The compression is due at once then.
-- Return their ids.
local function drop_summaries(summaries_key, lineage_key, compress_key, context_id, sequence)
  local covering = redis.call('ZRANGEBYSCORE', lineage_key, sequence, '+inf')
  for _, id in ipairs(covering) do
    redis.call('HDEL', summaries_key, id, 'covers:' .. id)
    redis.call('ZREM', lineage_key, id)
  end
  if #covering > 0 then
    redis.call('ZADD', compress_key, 'NX', 0, context_id)
  end
  return covering
end

-- Return the entries of a turn of the ledger that have this field. Turns without the name are not decoded: there may be
-- thousands, and few have it.
local function entries_with(turn, name)
  local found = {}
  for _, entry in ipairs(string.find(turn, name, 1, true) and fields_of(turn).entries or {}) do
    found[#found + 1] = entry[name] and entry or nil
  end
  return found
end

-- Return the ids of the artifacts that a turn of the ledger names.
local function artifacts_of_turn(turn)
  local ids = {}
  for number, entry in ipairs(entries_with(turn, 'artifact_id')) do
    ids[number] = entry.artifact_id
  end
  return ids
end

-- Return the ledger's turn that has the message of this sequence, and the ids of the artifacts that it names; or nil.
-- Turns do not overlap: it can only be the first one that ends there or later.
local function find_ledger_turn(ledger_key, sequence)
  local turn = redis.call('ZRANGEBYSCORE', ledger_key, sequence, '+inf', 'LIMIT', 0, 1)[1]
  local first = tonumber(fields_of(turn).first_sequence)
  if first and first <= tonumber(sequence) then
    return turn, artifacts_of_turn(turn)
  end
end

-- Return true if a turn of the ledger quotes one of `ids` (a set).
local function quotes_one_of(turn, ids)
  for _, entry in ipairs(entries_with(turn, 'quotes')) do
    for id in words(entry.quotes) do
      if ids[id] then
        return true
      end
    end
  end
  return false
end

-- Return the ledger's turns at or after this sequence that quote one of `ids` (a set of messages and artifacts): a list
-- of {turn, its last sequence}.
local function find_quoting_turns(ledger_key, sequence, ids)
  local found, offset, at_once = {}, 0, 100
  repeat
    local turns = redis.call('ZRANGEBYSCORE', ledger_key, sequence, '+inf', 'WITHSCORES', 'LIMIT', offset, at_once)
    for at = 1, #turns, 2 do
      if quotes_one_of(turns[at], ids) then
        found[#found + 1] = { turns[at], turns[at + 1] }
      end
    end
    offset = offset + at_once
  until #turns < 2 * at_once
  return found
end

-- Erase a key that a ZSET lists, such as an artifact. It may have expired. Return 1 if it existed.
local function drop_listed(list_key, prefix, id)
  local was_listed = redis.call('ZREM', list_key, id)
  local was_stored = redis.call('UNLINK', prefix .. id)
  return math.max(was_listed, was_stored)
end

-- Drop the turns at or after this sequence that quote one of `ids`, with their artifacts, and the turns that quote those
-- artifacts. Add the artifacts to `ids` and to the list `named`. Return the numbers of turns and artifacts, and the last
-- sequences of the turns.
local function drop_quoting_turns(ledger_key, artifacts_key, artifact_prefix, sequence, ids, named)
  local turns, artifacts, last_sequences = 0, 0, {}
  local found = find_quoting_turns(ledger_key, sequence, ids)
  while #found > 0 do
    local named_before = #named
    for _, each in ipairs(found) do
      turns = turns + redis.call('ZREM', ledger_key, each[1])
      last_sequences[#last_sequences + 1] = each[2]
      for _, id in ipairs(artifacts_of_turn(each[1])) do
        ids[id] = true
        named[#named + 1] = id
        artifacts = artifacts + drop_listed(artifacts_key, artifact_prefix, id)
      end
    end
    found = #named > named_before and find_quoting_turns(ledger_key, sequence, ids) or {}
  end
  return turns, artifacts, last_sequences
end

-- Return the lowest of the sequences that belong to the conversation which begins at `start`, or nil.
local function oldest_since(start, sequences)
  local oldest
  for _, sequence in ipairs(sequences) do
    local number = tonumber(sequence)
    if number >= tonumber(start) and (not oldest or number < oldest) then
      oldest = number
    end
  end
  return oldest
end
