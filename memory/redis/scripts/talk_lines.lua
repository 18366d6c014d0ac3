-- Heard lines of one context: JSON that is not decoded, except for two marks. A prelude. No string in a line can contain
-- such a mark, because quotation marks are escaped in it.

-- Return the time at which the message of a line was sent, in Unix seconds.
local function time_of(line)
  return tonumber(string.match(line, '"sent_at":([%d.]+)') or '0')
end

-- Remove the lines that copy the message of this score because somebody pinned it. They come after it. Return how many.
local function drop_pins(talk, score)
  local dropped = 0
  for _, line in ipairs(redis.call('ZRANGEBYSCORE', talk, '(' .. score, '+inf')) do
    if tonumber(string.match(line, '"pinned":(%d+)')) == tonumber(score) then
      dropped = dropped + redis.call('ZREM', talk, line)
    end
  end
  return dropped
end
