-- Begin a new conversation.
-- USES: start_conversation
-- KEYS: meta summaries lineage epoch
-- ARGV: expected_epoch:current
-- Reply: the sequence at which it starts
return start_conversation(keys)
