-- Put a notice of ours into the box of a context, once for each marker. Atomic.
-- USES: fence own_update
-- KEYS: warned own_updates box stop active ready
-- ARGV: context_id payload now marker_ttl rules:json
-- payload: the update as JSON; rules: FiringRules (bot/inbox/reminders.py)
-- Returns placed | known (it was placed before) | full (its box is full)
if redis.call('EXISTS', warned) == 1 then return 'known' end
if redis.call('ZCARD', box) >= rules.box then return 'full' end
redis.call('SET', warned, now, 'EX', marker_ttl)
place_own_update(keys, context_id, payload, 'budget notice due', now, rules)
return 'placed'
