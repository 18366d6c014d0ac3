-- End a piece of work on a context: the context rests, goes on, or goes to the end of the line. It goes there with
-- `rotate`, and if others wait: else a chat that writes without a pause would hold a worker's slot for turn after turn.
-- USES: fence
-- KEYS: ready active box outbox
-- ARGV: fence:held context rotate handed_back
-- `handed_back`: key of an update whose attempt does not count, or ''
-- Returns idle | more | rotated | fenced
if handed_back ~= '' then take_back(handed_back, attempt_of(fence)) end
-- A claim that ends takes its entry off the stream. So entries that are not pending wait for a worker.
local others_wait = redis.call('XLEN', ready) > redis.call('XPENDING', ready, fence.group)[1]
local is_idle = redis.call('EXISTS', box, outbox) == 0
if not is_idle and rotate ~= '1' and not others_wait then return 'more' end
end_claim(ready, active, context, fence)
if is_idle then return 'idle' end
wake(ready, active, context)
return 'rotated'
