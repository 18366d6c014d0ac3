-- Count a picture of a person and day, unless the limit is reached. A repetition of a counted call counts nothing more.
-- KEYS: pictures
-- ARGV: call at_most:number ttl
-- Returns 1, or 0 beyond the limit.
if redis.call('SISMEMBER', pictures, call) == 1 then return 1 end
if redis.call('SCARD', pictures) >= at_most then return 0 end
redis.call('SADD', pictures, call)
redis.call('EXPIRE', pictures, ttl)
return 1
