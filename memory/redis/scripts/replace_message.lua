-- Replace a message of one context if it has not changed. A new
-- text drops what tells the old one: summaries, turns of the ledger that quote it with their artifacts, quotations of it
-- in other messages, facts. It queues index work, and the message is read for facts again.
-- USES: telegram_index drop_traces drop_citing
-- KEYS: messages order meta work epoch summaries lineage compress ledger artifacts telegram erasures
-- KEYS: facts fact_order cited unread choices extract
-- ARGV: context_id expected_epoch:current artifact_prefix edit:json
-- Reply: replaced | changed (read it again)
local id = edit.id
local sequence = redis.call('ZSCORE', order, id)
if not sequence or redis.call('HGET', messages, id) ~= edit.before then
  return 'changed'
end
redis.call('HSET', messages, id, edit.after)
if edit.is_new_text then
  redis.call('INCR', erasures)
  -- Also for a text that recall ignores: the indexer drops the vector of a message that must not be found.
  redis.call('XADD', work, '*', 'op', 'index', 'context', context_id, 'epoch', expected_epoch, 'id', id)
  redis.call('HINCRBY', meta, 'revision', 1)
  local _, _, mentioning = drop_quoting_turns(ledger, artifacts, artifact_prefix, sequence, { [id] = true }, {})
  mentioning[#mentioning + 1] = sequence
  local changed = { id }
  for _, name in ipairs(names_of(telegram, id)) do
    for _, quoting in ipairs(strip_quotes(messages, order, telegram, name)) do
      mentioning[#mentioning + 1] = quoting
      changed[#changed + 1] = redis.call('ZRANGEBYSCORE', order, quoting, quoting)[1]
    end
  end
  local oldest = oldest_since(redis.call('HGET', meta, 'conversation_start') or '0', mentioning)
  if oldest then
    drop_summaries(summaries, lineage, compress, context_id, oldest)
  end
  drop_citing(keys, context_id, expected_epoch, changed)
  read_again(keys, context_id, { id })
end
return 'replaced'
