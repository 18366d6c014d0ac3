-- Note the list of a person's facts that says how many messages are unread, in place of their earlier one. "" drops it.
-- KEYS: epoch unread fact_lists
-- ARGV: expected_epoch person line ttl
if line == '' then
  redis.call('HDEL', fact_lists, person)
elseif redis.call('ZCARD', unread) > 0 and (redis.call('GET', epoch) or '0') == expected_epoch then
  redis.call('HSET', fact_lists, person, line)
  redis.call('EXPIRE', fact_lists, ttl)
end
