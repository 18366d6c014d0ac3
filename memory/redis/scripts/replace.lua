-- Replace a message of one context if it was not reset since `epoch` and the message is still as it was read.
-- A new text takes what told the old one with it: summaries, turns of the ledger that quote it with their artifacts, and
-- the quotations of it in other messages. It queues work on the message's vector.
-- KEYS: messages, order, meta, work, epoch, summaries, lineage, compress, ledger, artifacts, telegram,
--       erasures
-- ARGV: context_id, epoch, id, the message as it was read, the new one (JSON, opaque), is the text new (1 | 0),
--       prefix of artifact keys
-- Reply: replaced | changed (read it again) | nil when the context was reset: then nothing is written.
local messages, order, meta, work, epoch_key, summaries, lineage, compress, ledger, artifacts, telegram,
  erasures = unpack(KEYS)
local context, epoch, id, before, after, is_new, artifact_prefix = unpack(ARGV)
if (redis.call('GET', epoch_key) or '0') ~= epoch then
  return false
end
local sequence = redis.call('ZSCORE', order, id)
if not sequence or redis.call('HGET', messages, id) ~= before then
  return 'changed'
end
redis.call('HSET', messages, id, after)
if is_new == '1' then
  redis.call('INCR', erasures)
  -- Also for a text that recall passes over: the indexer drops the vector of what is not to be found.
  redis.call('XADD', work, '*', 'op', 'index', 'context', context, 'epoch', epoch, 'id', id)
  redis.call('HINCRBY', meta, 'revision', 1)
  local _, _, telling = drop_quoting_turns(ledger, artifacts, artifact_prefix, sequence, { [id] = true }, {})
  telling[#telling + 1] = sequence
  for _, name in ipairs(names_of(telegram, id)) do
    for _, quoting in ipairs(strip_quotes(messages, order, telegram, name)) do
      telling[#telling + 1] = quoting
    end
  end
  local oldest = oldest_since(redis.call('HGET', meta, 'conversation_start') or '0', telling)
  if oldest then
    drop_summaries(summaries, lineage, compress, context, oldest)
  end
end
return 'replaced'
