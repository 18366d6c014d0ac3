-- Delete messages of one context that are too old, with what rests on them, unless a turn is running there.
-- USES: delete_messages counters
-- KEYS: messages order telegram meta work people senders sessions epoch summaries lineage ledger artifacts compress
-- KEYS: receipts erasures facts fact_order cited standing unread choices extract reminders due active counts artifact receipt
-- ARGV: context_id expected_epoch:current ids:json expiry:json
-- expiry: Expiry (memory/retention.py)
-- Reply: 'busy', or a Deletion (memory/history/store.py) as JSON
-- A message on which a kept fact rests needs a husk. Without one it is left for the next time.
if expiry.waits and redis.call('HEXISTS', active, context_id) == 1 then return 'busy' end
local wanted = {}
for _, id in ipairs(ids) do
  if not expiry.keeps_facts or expiry.husks[id] or redis.call('HEXISTS', cited, id) == 0 then
    wanted[#wanted + 1] = id
  end
end
local deletion = delete_messages(keys, context_id, expected_epoch, wanted, {}, expiry)
count_up(counts, expiry.now, { 'expired', deletion.messages })
return deletion_as_json(deletion)
