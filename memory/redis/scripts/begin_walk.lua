-- Begin a walk over a partition's histories. From here on no work is finished that was not done in `space`.
-- KEYS: walk
-- ARGV: build space total
-- Reply: 1, or 0 without a change if this or a later build has begun already.

local current = redis.call('HGET', walk, 'build')
if current and tonumber(current) >= tonumber(build) then return 0 end
redis.call('DEL', walk)
redis.call('HSET', walk, 'build', build, 'space', space, 'total', total, 'context', '',
           'sequence', '-9007199254740992', 'queued', 0, 'done', 0, 'has_ended', 0)
return 1
