-- Lists of words in the fields of a hash. A prelude.
-- USES: records

local function add_word(key, field, word)
  local known = redis.call('HGET', key, field)
  redis.call('HSET', key, field, known and (known .. ' ' .. word) or word)
end

local function remove_word(key, field, word)
  local others = {}
  for other in words(redis.call('HGET', key, field)) do
    others[#others + 1] = other ~= word and other or nil
  end
  if #others > 0 then
    redis.call('HSET', key, field, table.concat(others, ' '))
  else
    redis.call('HDEL', key, field)
  end
end
