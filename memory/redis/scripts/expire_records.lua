-- Drop records of one context that tell messages which became too old: a page of the ledger's turns, those that quote a
-- message which has gone; after the last page also heard talk, dead letters, and sessions without a message.
-- USES: drop_traces updates
-- KEYS: messages order telegram meta work epoch summaries lineage ledger artifacts compress talk sessions erasures
-- KEYS: facts fact_order cited standing unread choices extract active dead artifact update
-- ARGV: context_id expected_epoch:current page:json expiry:json
-- page: {after (exclusive last sequence), limit, husk (the note of messages without words), before (talk of earlier times
-- and dead letters go), oldest (time of the oldest message, '' if there is none)}; expiry: Expiry
-- Reply: 'busy', or {last sequence of the page or '' after the last one, ledger turns, artifacts, summaries, talk}
if expiry.waits and redis.call('HEXISTS', active, context_id) == 1 then return 'busy' end

-- Return true for the id of a message that has no words any more. `drop_tellers` follows the artifacts.
local function has_gone(id)
  if #id == 12 and string.find(id, '^a%x+$') then return false end
  local record = redis.call('HGET', messages, id)
  return not record or fields_of(record).note == page.husk
end

-- Drop the lines of talk that are too old. Return how many.
local function drop_talk()
  local dropped = 0
  for _, line in ipairs(redis.call('ZRANGE', talk, 0, -1)) do
    if (tonumber(fields_of(line).sent_at) or 0) < page.before then
      dropped = dropped + redis.call('ZREM', talk, line)
    end
  end
  return dropped
end

-- Forget the dead letters of this context that are too old: their texts go, their records stay for a while.
local function forget_letters()
  local forgotten = 0
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', dead, '-inf', page.before)) do
    local key = update .. ':' .. id
    if redis.call('HGET', key, 'context') == context_id then
      redis.call('ZREM', dead, id)
      finish_update(key, 'forgotten', 'it became too old', expiry.now)
      forgotten = forgotten + 1
    end
  end
  return forgotten
end

-- Drop the sessions before that of the first message, and note when the memory begins now.
local function begin_later()
  local first = redis.call('ZRANGE', order, 0, 0, 'WITHSCORES')[2]
  local start = first and redis.call('ZREVRANGEBYSCORE', sessions, first, '-inf', 'LIMIT', 0, 1)[1]
  if start then redis.call('ZREMRANGEBYSCORE', sessions, '-inf', '(' .. start) end
  if (tonumber(redis.call('HGET', meta, 'created_at')) or page.before) < page.before and page.oldest ~= '' then
    redis.call('HSET', meta, 'created_at', page.oldest)
  end
end

local turns = redis.call('ZRANGEBYSCORE', ledger, '(' .. page.after, '+inf', 'WITHSCORES', 'LIMIT', 0, page.limit)
local erasure = begin_erasure(expiry)
for at = 1, #turns, 2 do
  if quotes_one(turns[at], has_gone) then
    drop_turn(keys, erasure, turns[at])
    erasure.mentioning[#erasure.mentioning + 1] = turns[at + 1]
  end
end
drop_tellers(keys, context_id, expected_epoch, erasure)
if #erasure.mentioning > 0 then redis.call('HINCRBY', meta, 'revision', 1) end
local is_last, talk_lines, letters = #turns < 2 * page.limit, 0, 0
if is_last then
  talk_lines, letters = drop_talk(), forget_letters()
  begin_later()
end
if #erasure.mentioning + talk_lines + letters > 0 then redis.call('INCR', erasures) end
return { is_last and '' or turns[#turns], erasure.ledger_turns, erasure.artifacts, #erasure.summary_ids, talk_lines }
