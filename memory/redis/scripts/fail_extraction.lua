-- Record a failed extraction: retry it later, or count its messages as read after too many failures.
-- USES: end_extraction
-- KEYS: extract meta unread
-- ARGV: context_id token failure:json
-- failure: FactFailure (memory/facts/queue.py)
-- Reply: given_up | later | lost (the claim is not ours any more: nothing is written)
if redis.call('ZSCORE', extract, context_id) ~= token then
  return 'lost'
end
if redis.call('HINCRBY', meta, 'fact_failures', 1) < failure.max_failures then
  redis.call('ZADD', extract, failure.retry_at, context_id)
  return 'later'
end
mark_read(keys, failure.page)
end_extraction(keys, context_id, failure.now, failure.reads_older)
return 'given_up'
