-- Erase one context's memory.
-- KEYS: messages, order, telegram, meta, epoch, contexts, work
-- ARGV: context_id
-- Reply: {new epoch, messages erased}
return erase_memory(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], ARGV[1])
