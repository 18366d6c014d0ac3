-- The one commit of a turn: still ours? same epoch? then delete the messages of the turn that it answers again, append its
-- own, keep what it called and its prompt's receipt, put its parts into the outbox, take its updates out of the box and
-- forget its journal. All, or nothing.
-- KEYS ready, box, journal, outbox, delivering, epoch, the eight of `append_messages`,
--      contexts, summaries, lineage, ledger, prompts, compress, artifacts
-- ARGV 1 fence (JSON), 2 context id, 3 epoch, 4 now, 5 prefix of update keys,
--      6 terminal state, 7 reason, 8 seconds to keep a finished record, 9 starts a conversation (1 | 0),
--      10 the context's entry in the registry if it is new, or '',
--      11 what the turn called (ledger entries, JSON) or '', 12 the receipt of its prompt or '',
--      13 receipts to keep, 14 seconds to keep them,
--      15 '=' and who has the chat from now on ('=' alone: the main agent), or '' for no change,
--      16 is a compression due (1 | 0),
--      17 number of parts p, 18 number of updates u, 19 number of messages to delete d, 20 prefix of artifact keys,
--      21 what the turn did, for operators (opaque): with its first update; the others are told that they were with it;
--      then u update ids, d message ids, the messages (MessageBatch, JSON), p parts
-- Returns ok | already (this commit went through before) | fenced | forgotten
-- Without updates the parts are an apology, and the first of them tells whether it is there already.
local ready, box, journal, outbox, delivering = unpack(KEYS, 1, 5)
local epoch_key, contexts_key, prompts_key = KEYS[6], KEYS[15], KEYS[19]
local memory = {
  messages = KEYS[7], order = KEYS[8], telegram = KEYS[9], meta = KEYS[10], work = KEYS[11], people = KEYS[12],
  senders = KEYS[13], sessions = KEYS[14], summaries = KEYS[16], lineage = KEYS[17], ledger = KEYS[18],
  compress = KEYS[20], artifacts = KEYS[21],
}
local fence, context, epoch, now, prefix = cjson.decode(ARGV[1]), unpack(ARGV, 2, 5)
local state, reason, ttl, starts_conversation, registered = unpack(ARGV, 6, 10)
local called, receipt, receipts_kept, receipts_ttl, active_agent, compresses = unpack(ARGV, 11, 16)
local part_count, update_count, delete_count = tonumber(ARGV[17]), tonumber(ARGV[18]), tonumber(ARGV[19])
local artifact_prefix, trace, first_id = ARGV[20], ARGV[21], ARGV[22]

if not is_held(ready, fence) then
  return 'fenced'
end
if (redis.call('GET', epoch_key) or '0') ~= epoch then
  return 'forgotten'
end
if update_count > 0 and not redis.call('ZSCORE', box, first_id) then
  local became = redis.call('HGET', prefix .. first_id, 'state') or 'forgotten'
  return became == 'forgotten' and became or 'already'
end
if update_count == 0 and redis.call('LINDEX', outbox, 0) == ARGV[#ARGV - part_count + 1] then
  return 'already'
end

local at = 22
for i = 1, update_count do
  local id = ARGV[at + i - 1]
  redis.call('ZREM', box, id)
  if i > 1 then
    redis.call('HSET', prefix .. id, 'turn_of', first_id)
  else
    redis.call('HSET', prefix .. id, 'committed_at', now, 'turn', trace)
  end
  if part_count > 0 then
    redis.call('HSET', prefix .. id, 'state', 'delivering', 'ends_as', state, 'reason', reason)
    redis.call('HDEL', prefix .. id, 'payload')
    redis.call('ZADD', delivering, id, id)
  else
    finish_update(prefix .. id, state, reason, now, ttl)
  end
end
at = at + update_count

if delete_count > 0 then
  -- The messages' own turn of the ledger goes with them, before the new one is written.
  delete_messages(memory, context, epoch, artifact_prefix, { unpack(ARGV, at, at + delete_count - 1) }, {})
end
at = at + delete_count

local first = tonumber(redis.call('HGET', memory.meta, 'next_sequence') or '0')
append_messages(memory, context, epoch, now, cjson.decode(ARGV[at]))
at = at + 1
local last = tonumber(redis.call('HGET', memory.meta, 'next_sequence') or '0') - 1
if called ~= '' and last >= first then
  append_ledger_turn(memory.ledger, first, last, called)
end
if receipt ~= '' then
  redis.call('LPUSH', prompts_key, receipt)
  redis.call('LTRIM', prompts_key, 0, receipts_kept - 1)
  redis.call('EXPIRE', prompts_key, receipts_ttl)
end
if registered ~= '' then
  redis.call('HSETNX', contexts_key, context, registered)
end
if starts_conversation == '1' then
  start_conversation(memory)
end
if active_agent == '=' then
  redis.call('HDEL', memory.meta, 'active_agent')
elseif active_agent ~= '' then
  redis.call('HSET', memory.meta, 'active_agent', string.sub(active_agent, 2))
end
if compresses == '1' then
  redis.call('ZADD', memory.compress, 'NX', now, context)
end
for i = at, #ARGV do
  redis.call('RPUSH', outbox, ARGV[i])
end
redis.call('DEL', journal)
return 'ok'
