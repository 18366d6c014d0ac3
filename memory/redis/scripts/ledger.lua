-- Turns of the ledger, and keys that a ZSET lists. A prelude.
-- USES: records

-- Return the entries of a turn of the ledger that have this field. Turns without the name are not decoded: there may be
-- thousands, and few have it.
local function entries_with(turn, name)
  local found = {}
  for _, entry in ipairs(string.find(turn, name, 1, true) and fields_of(turn).entries or {}) do
    found[#found + 1] = entry[name] and entry or nil
  end
  return found
end

-- Return the ledger's turn that has the message of this sequence, or nil.
-- Turns do not overlap: it can only be the first one that ends there or later.
local function find_ledger_turn(ledger_key, sequence)
  local turn = redis.call('ZRANGEBYSCORE', ledger_key, sequence, '+inf', 'LIMIT', 0, 1)[1]
  local first = tonumber(fields_of(turn).first_sequence)
  if first and first <= tonumber(sequence) then return turn end
end

-- Return true if a turn of the ledger quotes an id that `is_wanted`.
local function quotes_one(turn, is_wanted)
  for _, entry in ipairs(entries_with(turn, 'quotes')) do
    for id in words(entry.quotes) do
      if is_wanted(id) then return true end
    end
  end
  return false
end

-- Return the ledger's turns at or after this sequence that quote one of `ids` (a set of messages and artifacts): a list
-- of {turn, its last sequence}.
local function find_quoting_turns(ledger_key, sequence, ids)
  local found, from, at_once = {}, sequence, 100
  repeat
    local turns = redis.call('ZRANGEBYSCORE', ledger_key, from, '+inf', 'WITHSCORES', 'LIMIT', 0, at_once)
    for at = 1, #turns, 2 do
      if quotes_one(turns[at], function(id) return ids[id] end) then
        found[#found + 1] = { turns[at], turns[at + 1] }
      end
    end
    from = '(' .. (turns[#turns] or '')
  until #turns < 2 * at_once
  return found
end

-- Erase a key that a ZSET lists, such as an artifact. It may have expired. Return 1 if it existed.
local function drop_listed(list_key, listed_key, id)
  local was_listed = redis.call('ZREM', list_key, id)
  local was_stored = redis.call('UNLINK', listed_key .. ':' .. id)
  return math.max(was_listed, was_stored)
end

-- Return the lowest of the sequences that belong to the conversation which begins at `start`, or nil.
local function oldest_since(start, sequences)
  local oldest
  for _, sequence in ipairs(sequences) do
    local number = tonumber(sequence)
    if number >= tonumber(start) and (not oldest or number < oldest) then oldest = number end
  end
  return oldest
end
