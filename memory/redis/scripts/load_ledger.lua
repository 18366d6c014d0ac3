-- Read a range of one context's ledger.
-- KEYS: ledger
-- ARGV: a sequence, a sequence: the turns whose last message is after the one and not after the other
-- Reply: {ledger turn, last sequence, ...} oldest first
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], ARGV[2], 'WITHSCORES')
