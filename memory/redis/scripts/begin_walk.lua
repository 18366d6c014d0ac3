-- Begin a walk over a partition's histories. From here on no work is finished that was not done in `space`.
-- KEYS: walk
-- ARGV: build, space, how many messages there are
-- Reply: 1, or 0 when this or a later build has begun already: then nothing changes.
local build = redis.call('HGET', KEYS[1], 'build')
if build and tonumber(build) >= tonumber(ARGV[1]) then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'build', ARGV[1], 'space', ARGV[2], 'total', ARGV[3], 'context', '', 'sequence', '-1',
           'queued', 0, 'done', 0, 'has_ended', 0)
return 1
