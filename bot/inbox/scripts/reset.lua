-- Erase everything of a context and raise its epoch, the fence that every late writer meets. Atomic.
-- KEYS messages, order, telegram, meta, epoch, contexts, work, box, journal, outbox, sending, delivering, stop, dead,
--      ready, erased
-- ARGV 1 context id, 2 now, 3 prefix of update keys, 4 seconds to keep a finished record,
--      5 the update id of the /reset itself, which is being answered and whose successors stay, or '',
--      6 group, 7 consumer, 8 entry, 9 delivery: the fence of the turn that answers it (only with 5),
--      10 vectors counted before, for the receipt of a /reset that is interrupted,
--      11 what that /reset erased in other contexts before (JSON, opaque) or '', 12 seconds to keep `erased`
-- Returns {new epoch, messages erased, updates forgotten}, also kept in the journal of that /reset; {'fenced'}.
-- `erased` is this call's own key: repeated after a lost reply, it answers the same and erases nothing more.
local box, journal, outbox, sending, delivering, stop, dead, ready, erased_key = unpack(KEYS, 8, 16)
local context, now, prefix, ttl, reset_id, group, consumer, entry, delivery, vectors, others, erased_ttl = unpack(ARGV)
if reset_id ~= '' and not is_held(ready, group, consumer, entry, delivery) then
  return { 'fenced' }
end
local before = redis.call('GET', erased_key)
if before then
  return cjson.decode(before)
end

local messages, order, telegram, meta, epoch, contexts, work = unpack(KEYS, 1, 7)
local new_epoch, erased = unpack(erase_memory(messages, order, telegram, meta, epoch, contexts, work, context))

local forgotten = 0
local function forget(id, from)
  redis.call('ZREM', from, id)
  finish_update(prefix .. id, 'forgotten', 'the memory of this chat was erased', now, ttl)
  forgotten = forgotten + 1
end
local upto = reset_id == '' and '+inf' or '(' .. reset_id
for _, id in ipairs(redis.call('ZRANGEBYSCORE', box, '-inf', upto)) do
  forget(id, box)
end
for _, id in ipairs(redis.call('ZRANGE', delivering, 0, -1)) do
  forget(id, delivering)
end
for _, id in ipairs(redis.call('ZRANGE', dead, 0, -1)) do
  if redis.call('HGET', prefix .. id, 'context') == context then
    forget(id, dead)
  end
end
redis.call('DEL', journal, outbox, sending, delivering, stop)
if reset_id ~= '' then
  redis.call('HSET', journal, 'reset', new_epoch .. ' ' .. erased .. ' ' .. forgotten .. ' ' .. vectors)
  if others ~= '' then
    redis.call('HSET', journal, 'others', others)
  end
end
local counts = { new_epoch, erased, forgotten }
redis.call('SET', erased_key, cjson.encode(counts), 'EX', erased_ttl)
return counts
