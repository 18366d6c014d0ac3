-- Store a worker's heartbeat. One command, because each of several would be a transaction of the append-only file.
-- KEYS: beat
-- ARGV: number:number ttl:number
redis.call('SET', beat, number, 'EX', ttl)
