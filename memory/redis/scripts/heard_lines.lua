-- What is heard in one context (JSON, opaque but for two marks). A prelude. No string in a line's JSON can have such a
-- mark: quotation marks are escaped in there.

-- When the message of a line was sent, in Unix seconds.
local function heard_at(line)
  return tonumber(string.match(line, '"sent_at":([%d.]+)') or '0')
end

-- Take away what copies the message of this score: that somebody pinned it. Returns how many lines that were.
local function drop_pins(heard, score)
  local dropped = 0
  for _, line in ipairs(redis.call('ZRANGE', heard, 0, -1)) do
    if tonumber(string.match(line, '"pinned":(%d+)')) == tonumber(score) then
      dropped = dropped + redis.call('ZREM', heard, line)
    end
  end
  return dropped
end
