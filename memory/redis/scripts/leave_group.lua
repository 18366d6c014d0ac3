-- Remove a consumer from a group, unless it holds entries: those would be lost, another one must take them over.
-- KEYS: stream
-- ARGV: group consumer
if #redis.call('XPENDING', stream, group, '-', '+', 1, consumer) == 0 then
  redis.call('XGROUP', 'DELCONSUMER', stream, group, consumer)
end
