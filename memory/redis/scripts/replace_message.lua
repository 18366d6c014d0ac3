-- Replace a message of one context if it has not changed. A new
-- text drops what tells the old one: summaries, turns of the ledger that quote it with their artifacts, quotations of it
-- in other messages, facts. It queues index work, and the message is read for facts again.
-- USES: drop_traces
-- KEYS: messages order meta work epoch summaries lineage compress ledger artifacts telegram erasures
-- KEYS: facts fact_order cited standing unread choices extract artifact
-- ARGV: context_id expected_epoch:current edit:json
-- Reply: replaced | changed (read it again)
local id = edit.id
local sequence = redis.call('ZSCORE', order, id)
if not sequence or redis.call('HGET', messages, id) ~= edit.before then return 'changed' end
redis.call('HSET', messages, id, edit.after)
if edit.is_new_text then
  redis.call('INCR', erasures)
  -- Also for a text that recall ignores: the indexer drops the vector of a message that must not be found.
  redis.call('XADD', work, '*', 'op', 'index', 'context', context_id, 'epoch', expected_epoch, 'id', id)
  redis.call('HINCRBY', meta, 'revision', 1)
  local erasure = begin_erasure()
  erasure.gone[id], erasure.mentioning[1], erasure.changed[1] = true, sequence, id
  drop_quotations(keys, erasure, names_of(telegram, id))
  drop_tellers(keys, context_id, expected_epoch, erasure)
  read_again(keys, context_id, { id })
end
return 'replaced'
