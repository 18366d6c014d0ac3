-- Put a piece of a key of a backup into the key. To repeat it changes nothing.
-- KEYS: record
-- ARGV: kind ends_at values...
-- ends_at: Unix milliseconds, or '' for a key without a TTL
for at = 1, #values, 2 do
  if kind == 'hash' then
    redis.call('HSET', record, values[at], values[at + 1])
  elseif kind == 'zset' then
    redis.call('ZADD', record, values[at + 1], values[at])
  else
    redis.call('SET', record, values[at])
  end
end
if ends_at ~= '' then redis.call('PEXPIREAT', record, ends_at) end
