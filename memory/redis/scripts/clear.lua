-- Erase one context's memory.
-- KEYS: as `erase_memory` takes them
-- ARGV: context_id, prefix of artifact keys
-- Reply: {new epoch, messages, summaries, ledger turns, artifacts, heard lines erased}
return erase_memory(KEYS, ARGV[1], ARGV[2])
