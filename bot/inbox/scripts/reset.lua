-- Erase everything of a context and raise its epoch, which fences every late writer. Atomic.
-- USES: fence erase_memory
-- KEYS: CONTEXT_KEYS contexts work compress extract due erasures box journal outbox sending delivering files stop dead ready
-- KEYS: erased active control tombstones update
-- ARGV: context_id now order_of_reset:json erased_keys:json
-- order_of_reset: `update_id` and `fence` are of the update that asks for it, absent for a reset from outside the chat
-- erased: the key of this reset: a repetition returns the same counts and erases nothing more
-- Returns fenced, or an Erasure (memory/history/store.py) as JSON, which is also in the journal of the answered update.
local update_id, prefix = order_of_reset.update_id, update .. ':'
if update_id and not is_held(ready, order_of_reset.fence) then return 'fenced' end
local before = redis.call('GET', erased)
if before then return before end

local counts = erase_memory(keys, erased_keys, context_id, order_of_reset.prefixes, order_of_reset.buried)

local forgotten = 0
local function forget(id, from)
  redis.call('ZREM', from, id)
  finish_update(prefix .. id, 'forgotten', 'the memory of this chat was erased', now)
  forgotten = forgotten + 1
end
-- The update that is answered and later ones stay.
for _, id in ipairs(redis.call('ZRANGEBYSCORE', box, '-inf', update_id and '(' .. update_id or '+inf')) do
  forget(id, box)
end
for _, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do forget(id, delivering) end
for _, id in ipairs(redis.call('ZRANGE', dead, 0, -1)) do
  if redis.call('HGET', prefix .. id, 'context') == context_id then forget(id, dead) end
end
-- Messages of an answer that were not begun. A deletion is no message.
local unsent = 0
for number, part in ipairs(redis.call('LRANGE', outbox, 0, -1)) do
  local is_begun = number == 1 and (redis.call('GET', sending) or '0') ~= '0'
  if not is_begun and cjson.decode(part).kind ~= 'delete' then unsent = unsent + 1 end
end
redis.call('DEL', journal, outbox, sending, delivering, files, stop)
counts.updates, counts.vectors, counts.unsent = forgotten, order_of_reset.vectors, unsent
local line = cjson.encode(counts)
if update_id then
  redis.call('HSET', journal, 'reset', line)
  if order_of_reset.others ~= '' then
    redis.call('HSET', journal, 'others', order_of_reset.others)
  end
elseif redis.call('HEXISTS', active, context_id) == 1 then
  -- End the running turn: its updates are forgotten.
  redis.call('XADD', control, 'MAXLEN', '~', 1000, '*', 'context', context_id, 'update_id', 0, 'kind', 'reset',
             'epoch', counts.epoch)
end
redis.call('SET', erased, line, 'EX', order_of_reset.erased_ttl)
return line
