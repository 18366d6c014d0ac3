-- Take out what tells of messages beside themselves: summaries, the ledger, its artifacts. A prelude.
-- All keys as in memory/keys.py.

-- Drop the summaries that cover this sequence: those that go at least so far, as each tells what the ones before
-- it told. The newest one that does not tell it is the current one again. The compression is due at once then.
-- Returns how many.
local function drop_summaries(summaries_key, lineage_key, compress_key, context_id, sequence)
  local telling = redis.call('ZRANGEBYSCORE', lineage_key, sequence, '+inf')
  for _, id in ipairs(telling) do
    redis.call('HDEL', summaries_key, id, 'covers:' .. id)
    redis.call('ZREM', lineage_key, id)
  end
  if #telling > 0 then
    redis.call('ZADD', compress_key, 'NX', 0, context_id)
  end
  return #telling
end

-- The ledger's turn that has the message of this sequence, and the ids of the artifacts that it names; or nil.
-- Turns do not overlap: it can only be the first one that ends there or later.
local function find_ledger_turn(ledger_key, sequence)
  local turn = redis.call('ZRANGEBYSCORE', ledger_key, sequence, '+inf', 'LIMIT', 0, 1)[1]
  if not turn then
    return nil
  end
  local first, named = string.match(turn, '^(%d+) (%S*) ')
  if not first or tonumber(first) > tonumber(sequence) then
    return nil
  end
  local artifacts = {}
  for id in string.gmatch(named, '[^,]+') do
    artifacts[#artifacts + 1] = id
  end
  return turn, artifacts
end

-- Erase an artifact, which may have ended by itself. Returns 1 if it was there.
local function drop_artifact(artifacts_key, artifact_prefix, id)
  local was_listed = redis.call('ZREM', artifacts_key, id)
  local was_kept = redis.call('UNLINK', artifact_prefix .. id)
  return math.max(was_listed, was_kept)
end
