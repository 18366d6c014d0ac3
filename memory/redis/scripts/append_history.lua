-- Append messages to one context.
-- USES: append_messages
-- KEYS: messages order telegram meta work people senders sessions epoch
-- ARGV: context_id expected_epoch:current now batch:json
-- Reply: their sequences
return append_messages(keys, context_id, expected_epoch, now, batch)
