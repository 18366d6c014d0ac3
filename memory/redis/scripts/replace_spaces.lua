-- Replace the record of the spaces if it is still as it was read.
-- KEYS: spaces
-- ARGV: the record as it was read ('' for none), the new one
-- Reply: 1, or 0 when somebody was faster: then nothing is written.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
