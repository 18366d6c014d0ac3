-- Store what a typed call brings, so that a test can read it back.
-- USES: typed_prelude
-- KEYS: meta contexts extra
-- ARGV: name count:number is_new person:json ids...
redis.call('SET', extra, name)
redis.call('HSET', meta, 'count', twice(count), 'is_new', is_new, 'person', person.name, 'age', person.age or 'none')
redis.call('HSET', contexts, 'ids', table.concat(ids, ' '))
return { name, twice(count), person.name, #ids }
