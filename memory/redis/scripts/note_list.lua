-- Note a person's list of facts, if it says how many messages are unread. It replaces their earlier one; "" drops that.
-- KEYS: epoch unread fact_lists
-- ARGV: expected_epoch person line ttl
if line == '' then
  redis.call('HDEL', fact_lists, person)
elseif redis.call('ZCARD', unread) > 0 and (redis.call('GET', epoch) or '0') == expected_epoch then
  redis.call('HSET', fact_lists, person, line)
  redis.call('EXPIRE', fact_lists, ttl)
end
