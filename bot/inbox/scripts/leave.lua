-- A worker leaves the group; not while entries are in its name (they would be lost: a sweep must find them).
-- KEYS ready   ARGV 1 group, 2 consumer
local held = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2])
if #held == 0 then
  redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
return #held
