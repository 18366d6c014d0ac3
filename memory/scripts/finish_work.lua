-- Take finished entries off the work stream: acknowledged and deleted together, so that none is left behind.
-- KEYS: work
-- ARGV: group, entry ids ...
for at = 2, #ARGV do
  redis.call('XACK', KEYS[1], ARGV[1], ARGV[at])
  redis.call('XDEL', KEYS[1], ARGV[at])
end
