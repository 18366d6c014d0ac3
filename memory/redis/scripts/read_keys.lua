-- Read whole keys of one slot at one moment.
-- KEYS: first
-- ARGV: others...
-- Reply: {type, milliseconds until it expires, or -1, {value, ...}} for each key; the values are in pairs, or one STRING.
local found = {}
table.insert(others, 1, first)
for at, name in ipairs(others) do
  local kind, values = redis.call('TYPE', name).ok, {}
  if kind == 'hash' then
    values = redis.call('HGETALL', name)
  elseif kind == 'zset' then
    values = redis.call('ZRANGE', name, 0, -1, 'WITHSCORES')
  elseif kind == 'string' then
    values = { redis.call('GET', name) }
  end
  found[at] = { kind, redis.call('PTTL', name), values }
end
return found
