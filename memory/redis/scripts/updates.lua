-- Records of updates. A prelude.

-- TERMINAL_UPDATE_TTL_S (memory/keys.py).
local RECORD_KEPT_S = 48 * 3600

-- Put a finished update's record into its terminal state. Its payload goes, the record stays for a while.
local function finish_update(key, state, reason, now)
  redis.call('HSET', key, 'state', state, 'reason', reason, 'finished_at', now)
  redis.call('HDEL', key, 'payload')
  redis.call('EXPIRE', key, RECORD_KEPT_S)
end
