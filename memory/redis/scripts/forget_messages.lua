-- Delete messages of one context, and the quotations of others.
-- USES: delete_messages tombstones
-- KEYS: messages order telegram meta work people senders sessions epoch summaries lineage ledger artifacts compress
-- KEYS: receipts erasures facts fact_order cited standing unread choices extract reminders due tombstones artifact receipt
-- ARGV: context_id expected_epoch:current ids:json quoted:json unquoted:json buried:json
-- Reply: a Deletion (memory/history/store.py) as JSON
-- `quoted`, `unquoted`: see delete_messages.lua. `buried`: names of tombstones.
local deletion = delete_messages(keys, context_id, expected_epoch, ids, quoted, nil, unquoted)
if deletion.messages + deletion.quotes > 0 then bury(tombstones, buried) end
return deletion_as_json(deletion)
