-- Erase everything of a context and raise its epoch, the fence that every late writer meets. Atomic.
-- KEYS the eighteen of `erase_memory`, then box, journal, outbox, sending, delivering, stop, dead, ready, erased,
--      active, control
-- ARGV 1 context id, 2 prefix of artifact keys, 3 now, 4 prefix of update keys, 5 seconds to keep a finished record,
--      6 the update id of the /reset itself, which is being answered and whose successors stay, or '',
--      7 the fence of the turn that answers it (JSON; only with 6),
--      8 vectors counted before, for the receipt of a /reset that is interrupted,
--      9 what that /reset erased in other contexts before (JSON, opaque) or '', 10 seconds to keep `erased`
-- Returns {new epoch, messages, summaries, ledger turns, artifacts, heard lines erased, updates forgotten}, also kept in the journal
-- of that /reset, with the vectors; {'fenced'}.
-- `erased` is this call's own key: repeated after a lost reply, it answers the same and erases nothing more.
local box, journal, outbox, sending, delivering, stop, dead, ready, erased_key = unpack(KEYS, 19, 27)
local active, control = unpack(KEYS, 28, 29)
local context, artifact_prefix, now, prefix, ttl = unpack(ARGV, 1, 5)
local reset_id, fence, vectors, others, erased_ttl = ARGV[6], cjson.decode(ARGV[7]), unpack(ARGV, 8, 10)
if reset_id ~= '' and not is_held(ready, fence) then
  return { 'fenced' }
end
local before = redis.call('GET', erased_key)
if before then
  return cjson.decode(before)
end

local counts = erase_memory({
  messages = KEYS[1], order = KEYS[2], telegram = KEYS[3], meta = KEYS[4], epoch = KEYS[5], contexts = KEYS[6],
  work = KEYS[7], summaries = KEYS[8], lineage = KEYS[9], ledger = KEYS[10], artifacts = KEYS[11], prompts = KEYS[12],
  compress = KEYS[13], people = KEYS[14], senders = KEYS[15], sessions = KEYS[16], heard = KEYS[17],
  erasures = KEYS[18],
}, context, artifact_prefix)

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
counts[#counts + 1] = forgotten
if reset_id ~= '' then
  redis.call('HSET', journal, 'reset', table.concat(counts, ' ') .. ' ' .. vectors)
  if others ~= '' then
    redis.call('HSET', journal, 'others', others)
  end
end
if reset_id == '' and redis.call('HEXISTS', active, context) == 1 then
  -- What is forgotten is not to be answered to the end.
  redis.call('XADD', control, 'MAXLEN', '~', 1000, '*', 'context', context, 'update_id', 0, 'kind', 'reset',
             'epoch', counts[1])
end
redis.call('SET', erased_key, cjson.encode(counts), 'EX', erased_ttl)
return counts
