-- Erase one context's memory.
-- USES: erase_memory
-- KEYS: messages order telegram meta epoch contexts work summaries lineage ledger artifacts prompts compress
-- KEYS: people senders sessions talk erasures
-- ARGV: context_id artifact_prefix
-- Reply: {new epoch, messages, summaries, ledger turns, artifacts, lines of talk erased}
return erase_memory(keys, context_id, artifact_prefix)
