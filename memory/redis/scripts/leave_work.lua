-- An indexer leaves the group; not while entries are in its name (they would be lost: another must take them over).
-- KEYS: work
-- ARGV: group, consumer
local held = redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2])
if #held == 0 then
  redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
return #held
