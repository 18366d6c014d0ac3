-- Count the records of one context. A prelude.
local SIZES = { hash = 'HLEN', zset = 'ZCARD', list = 'LLEN' }

-- Return how many records this key has. Artifacts expire one by one; a summary has a second field in its hash.
local function size_of(name, key, artifact_prefix)
  local size = 0
  if name == 'artifacts' then
    for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      size = size + redis.call('EXISTS', artifact_prefix .. id)
    end
  elseif name == 'summaries' then
    for _, field in ipairs(redis.call('HKEYS', key)) do
      size = size + (string.sub(field, 1, 7) == 'covers:' and 0 or 1)
    end
  else
    local command = SIZES[redis.call('TYPE', key).ok]
    size = command and redis.call(command, key) or 0
  end
  return size
end

-- Return {field of RecordCounts → number of records}. A field with several keys has the size of the largest.
-- erased_keys: ERASED_KEYS (memory/keys.py)
local function count_records(keys, erased_keys, artifact_prefix)
  local counts = {}
  for name, field in pairs(erased_keys) do
    if field ~= '' then
      counts[field] = math.max(counts[field] or 0, size_of(name, keys[name], artifact_prefix))
    end
  end
  return counts
end
