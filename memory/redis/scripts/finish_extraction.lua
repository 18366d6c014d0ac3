-- End the claim of a context if it is still ours. It waits again if there is more to read.
-- USES: end_extraction
-- KEYS: extract meta unread
-- ARGV: context_id token now:number page:json reads_older
-- page: FactPageRead (memory/facts/queue.py) of messages that are given up, which count as read
if redis.call('ZSCORE', extract, context_id) == token then
  mark_read(keys, page)
  end_extraction(keys, context_id, now, reads_older == '1')
end
