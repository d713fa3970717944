-- bucket.lua: one key, one decision, as a careful program writes it for itself. Twin of bucket in benchmarks/redisrivals/bucket.go.
-- KEYS[1]  bucket            ARGV  emission_us, burst
-- returns  {allowed 0|1, remaining, wait_us}      writes  KEYS[1], expires when the bucket is full again
local emission, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now) + emission
local room = now + burst * emission - full
if room < 0 then
  return {0, 0, -room}
end
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
return {1, math.floor(room / emission), 0}
