-- Queue the next messages of one context for the space being built and move the cursor, or end the walk: together,
-- so that a walker that is killed repeats and loses nothing, and two at once do not disturb each other.
-- KEYS: walk, and to queue: work, order, epoch
-- ARGV: build, context and sequence where the cursor was, and to queue: context, the sequence to go on after,
--       how many at most, the longest stream to add to
-- Reply: {'moved'} when another walker or build was here, {'full'}, {'ended'}, or {'queued', how many, last sequence}.
local walk, work, order, epoch_key = unpack(KEYS)
local kept = redis.call('HMGET', walk, 'build', 'context', 'sequence', 'space')
if kept[1] ~= ARGV[1] or kept[2] ~= ARGV[2] or kept[3] ~= ARGV[3] then
  return {'moved'}
end
if not work then
  redis.call('HSET', walk, 'has_ended', 1)
  return {'ended'}
end
local context, last = ARGV[4], ARGV[5]
if redis.call('XLEN', work) > tonumber(ARGV[7]) then
  return {'full'}
end
local epoch = redis.call('GET', epoch_key) or '0'
local rows = redis.call('ZRANGEBYSCORE', order, '(' .. last, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[6])
for at = 1, #rows, 2 do
  redis.call('XADD', work, '*', 'op', 'index', 'context', context, 'epoch', epoch, 'id', rows[at], 'space', kept[4],
             'build', kept[1])
  last = rows[at + 1]
end
redis.call('HSET', walk, 'context', context, 'sequence', last)
redis.call('HINCRBY', walk, 'queued', #rows / 2)
return {'queued', #rows / 2, last}
