-- counter.lua: one key, one decision. Twin of race.counter in internal/race/counter.go.
-- KEYS[1]  admissions so far            ARGV  limit, window_ms
-- returns  1 admitted | 0 refused      writes  KEYS[1] when it admits; expires window_ms after the first admission
if tonumber(redis.call('GET', KEYS[1]) or '0') >= tonumber(ARGV[1]) then
  return 0
end
if redis.call('INCR', KEYS[1]) == 1 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
