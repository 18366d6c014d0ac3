-- Take the flag of the sweeping down, if it is still ours.
-- KEYS: sweeping
-- ARGV: token
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('UNLINK', KEYS[1])
end
