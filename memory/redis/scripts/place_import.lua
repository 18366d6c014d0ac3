-- Put a staged import in the place of an empty context's memory, and queue its messages for the index. All, or nothing.
-- USES: delete_messages
-- KEYS: staged contexts work epoch talk messages order telegram meta people senders sessions summaries lineage ledger
-- KEYS: artifacts facts fact_order cited standing unread choices extract retain reminders due erasures receipts compress
-- KEYS: artifact receipt
-- ARGV: place:json
-- staged: the beginning of all keys of this import; place: {context_id, expected_epoch, registered (entry of the
-- registry), is_other (another context than the file's), talk_ends_at (Unix seconds), messages (number
-- that must be staged), placed_ttl_s; forgotten, unquoted, forgotten_facts: messages and facts that were erased
-- after the file was written, and messages that quote such words}
-- Reply: {placed, how many are queued} | {forgotten} (reset since) | {occupied} | {gone} (a staged part has expired)
local context = place.context_id
local before = redis.call('GET', staged .. 'placed')
if before then return { 'placed', tonumber(before) } end
if (redis.call('GET', epoch) or '0') ~= place.expected_epoch then return { 'forgotten' } end
-- A context without messages may still have a meta.
if redis.call('EXISTS', messages, order, summaries, lineage, ledger, artifacts) > 0 then
  return { 'occupied' }
end
local ids = redis.call('ZRANGE', staged .. 'artifacts', 0, -1)
local is_whole = redis.call('EXISTS', staged .. 'meta') == 1 and redis.call('ZCARD', staged .. 'order') == place.messages
for _, id in ipairs(ids) do
  is_whole = is_whole and redis.call('EXISTS', staged .. 'artifact:' .. id) == 1
end
if not is_whole then return { 'gone' } end

-- First what needs memory: a full server refuses a script at its first write, and never later.
redis.call('HSETNX', contexts, context, place.registered)
redis.call('ZADD', retain, 0, context)  -- the file may have messages that are too old
local revision = redis.call('HGET', meta, 'revision') or '0'
if place.is_other then
  unlink_all_telegram(staged .. 'telegram')
  redis.call('HDEL', staged .. 'meta', 'migrated_to')
end
for name, live in pairs({
  messages = messages, order = order, telegram = telegram, meta = meta, people = people, senders = senders,
  sessions = sessions, summaries = summaries, lineage = lineage, ledger = ledger, artifacts = artifacts,
}) do
  redis.call('UNLINK', live)
  if redis.call('EXISTS', staged .. name) == 1 then
    redis.call('RENAME', staged .. name, live)
    redis.call('PERSIST', live)
  end
end
redis.call('HSET', meta, 'revision', revision + 1)  -- plans for the empty context are stale
for _, id in ipairs(ids) do
  local ends_at = redis.call('ZSCORE', artifacts, id)
  redis.call('RENAME', staged .. 'artifact:' .. id, artifact .. ':' .. id)
  redis.call('PEXPIREAT', artifact .. ':' .. id, math.floor(ends_at * 1000))
end
local last = redis.call('ZREVRANGE', artifacts, 0, 0, 'WITHSCORES')[2]
if last then redis.call('PEXPIREAT', artifacts, math.floor(last * 1000)) end
if redis.call('EXISTS', talk) == 0 and redis.call('EXISTS', staged .. 'talk') == 1 then
  redis.call('RENAME', staged .. 'talk', talk)
  redis.call('EXPIREAT', talk, place.talk_ends_at)
end

-- Choices that were made here stay, and hold for the file's facts too.
for _, name in ipairs(redis.call('HKEYS', staged .. 'choices')) do
  redis.call('HSETNX', choices, name, redis.call('HGET', staged .. 'choices', name))
end
if redis.call('HGET', choices, 'facts') ~= 'off' then
  local of_people_off = place.forgotten_facts
  for _, id in ipairs(redis.call('HKEYS', staged .. 'facts')) do
    local json = redis.call('HGET', staged .. 'facts', id)
    put_fact(keys, id, json)
    local fact = fields_of(json)
    for _, person in ipairs({ fact.subject_id or '', fact.said_by or '' }) do
      if redis.call('HEXISTS', choices, 'off:' .. person) == 1 then
        of_people_off[#of_people_off + 1] = id
      end
    end
  end
  drop_facts(keys, context, place.expected_epoch, of_people_off)
  if redis.call('EXISTS', staged .. 'unread') == 1 then
    redis.call('RENAME', staged .. 'unread', unread)
    redis.call('PERSIST', unread)
    redis.call('ZADD', extract, 'NX', 0, context)
  end
else
  redis.call('HSET', meta, 'facts_from', 0)
end
for _, id in ipairs(redis.call('HKEYS', staged .. 'reminders')) do
  if redis.call('HEXISTS', reminders, id) == 0 then
    put_reminder(keys, context, id, redis.call('HGET', staged .. 'reminders', id))
  end
end
delete_messages(keys, context, place.expected_epoch, place.forgotten, {}, nil, place.unquoted)
local queued = #reindex(keys, context, place.expected_epoch, redis.call('ZRANGE', staged .. 'indexed', 0, -1))
redis.call('UNLINK', staged .. 'talk', staged .. 'indexed', staged .. 'facts', staged .. 'choices', staged .. 'unread',
           staged .. 'reminders')
redis.call('INCR', erasures)  -- the staged facts that nobody wants, and talk if there was some
redis.call('SET', staged .. 'placed', queued, 'EX', place.placed_ttl_s)
return { 'placed', queued }
