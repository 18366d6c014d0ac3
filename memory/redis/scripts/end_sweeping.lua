-- Lower the flag of the sweeper, if it is still ours.
-- KEYS: sweeping
-- ARGV: token

if redis.call('GET', sweeping) == token then redis.call('UNLINK', sweeping) end
