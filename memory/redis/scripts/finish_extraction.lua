-- End the claim of a context if it is still ours. It waits again if there is more to read.
-- USES: end_extraction
-- KEYS: extract meta unread
-- ARGV: context_id token now:number reads_older
if redis.call('ZSCORE', extract, context_id) == token then
  end_extraction(keys, context_id, now, reads_older == '1')
end
