-- Count the records of one context. A prelude.
local SIZES = {
  hash = 'HLEN', zset = 'ZCARD', list = 'LLEN', set = 'SCARD', stream = 'XLEN', string = 'EXISTS', none = 'EXISTS',
}

-- Return how many records this key has. A string is one. A key that lists others has those that have not expired; a
-- summary has a second field in its hash. Raise an error for an unknown type, because a count of 0 would prove an erasure that nobody checked.
local function size_of(name, key, prefix)
  local size = 0
  if prefix then
    for _, id in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      size = size + redis.call('EXISTS', prefix .. id)
    end
    return size
  end
  local kind = redis.call('TYPE', key).ok
  if not SIZES[kind] then
    error('count_records.lua cannot count the type ' .. kind .. ' of the key ' .. name)
  end
  size = redis.call(SIZES[kind], key)
  return name == 'summaries' and math.ceil(size / 2) or size
end

-- Return {field of RecordCounts → number of records}. A field with several keys has the size of the largest.
-- erased_keys, prefixes: ERASED_KEYS and listed_prefixes (memory/keys.py)
local function count_records(keys, erased_keys, prefixes)
  local counts = {}
  for name, field in pairs(erased_keys) do
    if field ~= '' then
      counts[field] = math.max(counts[field] or 0, size_of(name, keys[name], prefixes[name]))
    end
  end
  return counts
end
