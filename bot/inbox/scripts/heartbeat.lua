-- Keep one entry: reset its idle time. JUSTID keeps the delivery count. The check of the owner comes first, so that a
-- worker that slept past its lease does not steal the entry back.
-- USES: fence
-- KEYS: ready
-- ARGV: fence:held
redis.call('XCLAIM', ready, fence.group, fence.consumer, 0, fence.entry, 'JUSTID')
