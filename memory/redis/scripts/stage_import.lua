-- Keep a part of a context's file beside the memory until all of it is there; it ends by itself if that never comes.
-- KEYS: one for each command
-- ARGV: ttl (s), then for each command its name, the number of its arguments, and these
local at = 2
for number, key in ipairs(KEYS) do
  local count = tonumber(ARGV[at + 1])
  redis.call(ARGV[at], key, unpack(ARGV, at + 2, at + 1 + count))
  redis.call('EXPIRE', key, ARGV[1])
  at = at + 2 + count
end
return at - 1
