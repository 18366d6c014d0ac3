-- Remove an indexer from the group, unless entries are in its name: those would be lost, another must take them over.
-- KEYS: work
-- ARGV: group consumer

local pending = redis.call('XPENDING', work, group, '-', '+', 1, consumer)
if #pending == 0 then
  redis.call('XGROUP', 'DELCONSUMER', work, group, consumer)
end
return #pending
