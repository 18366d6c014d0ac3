-- Queue the next messages of one context for the space being built and move the cursor, in one step.
-- So a walker that is killed repeats and loses nothing, and two at once do not disturb each other.
-- KEYS: walk work order epoch
-- ARGV: cursor:json context after page backlog:number
-- Reply: {'moved'} if another walker or build was here, {'full'}, or {'queued', how many, last sequence}.

local current = redis.call('HMGET', walk, 'build', 'context', 'sequence', 'space')
if current[1] ~= cursor.build or current[2] ~= cursor.context or current[3] ~= cursor.sequence then
  return {'moved'}
end
if redis.call('XLEN', work) > backlog then return {'full'} end
local last = after
local current_epoch = redis.call('GET', epoch) or '0'
local rows = redis.call('ZRANGEBYSCORE', order, '(' .. last, '+inf', 'WITHSCORES', 'LIMIT', 0, page)
for at = 1, #rows, 2 do
  redis.call('XADD', work, '*', 'op', 'index', 'context', context, 'epoch', current_epoch, 'id', rows[at],
             'space', current[4], 'build', current[1])
  last = rows[at + 1]
end
redis.call('HSET', walk, 'context', context, 'sequence', last)
redis.call('HINCRBY', walk, 'queued', #rows / 2)
return {'queued', #rows / 2, last}
