-- Put what an import has read in the place of an empty context's memory, and queue its messages for the index. All, or
-- nothing. After telegram_index.lua.
-- KEYS: contexts, work, epoch, heard, then eleven pairs of one key each, as it was staged and as it is to be: messages,
--       order, telegram, meta, people, senders, sessions, summaries, lineage, ledger, artifacts; and of what is staged only:
--       heard, the ids of the messages to index by their sequence, and (for a repetition after a lost reply) how many
--       this very import has queued
-- ARGV: 1 context id, 2 epoch, 3 its entry in the registry, 4 is it another context's file (1 | 0), 5 prefix of staged
--       artifact keys, 6 prefix of artifact keys, 7 when what was heard ends (Unix seconds), 8 how many messages there are,
--       9 how long that last key is kept (s)
-- Returns {placed, how many are queued} | {forgotten} (reset since) | {occupied} | {gone} (not all was there any more)
local contexts, work, epoch_key, heard = unpack(KEYS, 1, 4)
local staged, live = {}, {}
for at = 5, 25, 2 do
  staged[#staged + 1], live[#live + 1] = KEYS[at], KEYS[at + 1]
end
local staged_heard, staged_indexed, placed = unpack(KEYS, 27, 29)
local context, epoch, registered, is_other = unpack(ARGV, 1, 4)
local staged_prefix, live_prefix, heard_ends_at, messages, placed_ttl = unpack(ARGV, 5, 9)
local MESSAGES, ORDER, TELEGRAM, META, ARTIFACTS = 1, 2, 3, 4, 11

local before = redis.call('GET', placed)
if before then
  return { 'placed', tonumber(before) }
end
if (redis.call('GET', epoch_key) or '0') ~= epoch then
  return { 'forgotten' }
end
-- What tells of messages is kept of none: an empty context may still have a meta.
if redis.call('EXISTS', live[MESSAGES], live[ORDER], live[8], live[9], live[10], live[ARTIFACTS]) > 0 then
  return { 'occupied' }
end
local ids = redis.call('ZRANGE', staged[ARTIFACTS], 0, -1)
local is_whole = redis.call('EXISTS', staged[META]) == 1 and redis.call('ZCARD', staged[ORDER]) == tonumber(messages)
for _, id in ipairs(ids) do
  is_whole = is_whole and redis.call('EXISTS', staged_prefix .. id) == 1
end
if not is_whole then
  return { 'gone' }
end

-- First what needs memory: a full server refuses a script at its first write, and never later.
redis.call('HSETNX', contexts, context, registered)
local revision = redis.call('HGET', live[META], 'revision') or '0'
if is_other == '1' then
  unlink_all_telegram(staged[TELEGRAM])
  redis.call('HDEL', staged[META], 'migrated_to')
end
for number, key in ipairs(staged) do
  redis.call('UNLINK', live[number])
  if redis.call('EXISTS', key) == 1 then
    redis.call('RENAME', key, live[number])
    redis.call('PERSIST', live[number])
  end
end
redis.call('HSET', live[META], 'revision', revision + 1)  -- whatever was planned of the empty context is stale
for _, id in ipairs(ids) do
  local ends_at = redis.call('ZSCORE', live[ARTIFACTS], id)
  redis.call('RENAME', staged_prefix .. id, live_prefix .. id)
  redis.call('PEXPIREAT', live_prefix .. id, math.floor(ends_at * 1000))
end
local last = redis.call('ZREVRANGE', live[ARTIFACTS], 0, 0, 'WITHSCORES')[2]
if last then
  redis.call('PEXPIREAT', live[ARTIFACTS], math.floor(last * 1000))
end
if redis.call('EXISTS', heard) == 0 and redis.call('EXISTS', staged_heard) == 1 then
  redis.call('RENAME', staged_heard, heard)
  redis.call('EXPIREAT', heard, heard_ends_at)
end
local queued = 0
for _, id in ipairs(redis.call('ZRANGE', staged_indexed, 0, -1)) do
  redis.call('XADD', work, '*', 'op', 'index', 'context', context, 'epoch', epoch, 'id', id)
  queued = queued + 1
end
redis.call('UNLINK', staged_heard, staged_indexed)
redis.call('SET', placed, queued, 'EX', placed_ttl)
return { 'placed', queued }
