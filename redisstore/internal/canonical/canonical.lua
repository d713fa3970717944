-- canonical.lua: one bucket of the documented script, one decision. Twin of canonical.Bucket in redisstore/internal/canonical/canonical.go.
-- KEYS[1]  hash of tokens and last_refill (epoch seconds)   ARGV  op, cost, capacity, refill, interval_s, now_us ("" = ask Redis TIME)
--          op is take, peek, refund, charge or reset
-- returns  {remaining, wait_us (-1 = never), reset_us}, or {problem, detail} of a key that holds no such bucket
--          writes  KEYS[1] unless nothing is charged or given back; it expires keep_us after the bucket is full again.
--          A refusal writes an expiry that would come too early, or that an untrusted time lacks; nothing else.
-- Times are whole microseconds. Tokens are doubles, added as the documented script adds them: the format is decimal.
local DUST, CENTURY, MOST = 1e-9, 3153600000e6, 2 ^ 53 - 1
local key, op, cost = KEYS[1], ARGV[1], tonumber(ARGV[2])
local capacity, refill = tonumber(ARGV[3]), tonumber(ARGV[4]) * 1.0 -- a double under Lua 5.4 too
local interval = math.floor(tonumber(ARGV[5]) * 1e6 + 0.5)
local now = tonumber(ARGV[6])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1e6 + tonumber(time[2])
end

-- A raw key may belong to somebody else: what is no bucket is reported and never changed.
local size = redis.pcall('HLEN', key)
if type(size) == 'table' then
  if string.find(size.err, 'WRONGTYPE', 1, true) then return {'type', redis.call('TYPE', key).ok} end
  return size
end
local stored = redis.call('HMGET', key, 'tokens', 'last_refill')
local present = (stored[1] and 1 or 0) + (stored[2] and 1 or 0)
if size > present then return {'fields', string.format('%.0f', size - present)} end
if op == 'reset' then
  redis.call('DEL', key)
  return {math.floor(capacity), 0, 0}
end

-- number is what a field says, nil if that is not finite.
local function number(field)
  local x = tonumber(field)
  if x and x - x == 0 then return x end
end

-- text is x in the fewest digits that read as x.
local function text(x)
  if x == math.floor(x) then return string.format('%.0f', x) end
  local s = string.format('%.15g', x)
  if tonumber(s) ~= x then s = string.format('%.16g', x) end
  if tonumber(s) ~= x then s = string.format('%.17g', x) end
  return s
end

-- tidy takes the rounding of decimal steps away: 0.1 added ten times is a token.
local function tidy(t)
  local whole = math.floor(t + 0.5)
  if math.abs(t - whole) < DUST then t = whole end
  if t > capacity - DUST then t = capacity end
  return t
end

-- steps is how many steps take t tokens to target, by the sum that will be made of them.
local function steps(t, target)
  if t >= target then return 0 end
  local n = math.max(1, math.ceil((target - t) / refill))
  if tidy(t + n * refill) < target then return n + 1 end
  if n > 1 and tidy(t + (n - 1) * refill) >= target then return n - 1 end
  return n
end

-- What others wrote: too many tokens are a full bucket, a debt is cut where a hundred years or 1e12 steps pay it.
local keep = math.min(math.max(10 * steps(0, capacity) * interval, 60e6), CENTURY)
local lowest = capacity - math.min(math.min(math.floor(CENTURY / interval), 1e12) * refill, MOST)
local tokens, last, unmoved = capacity, now, nil
if present > 0 then
  for i, name in ipairs({'tokens', 'last_refill'}) do
    if not stored[i] then return {'missing', name} end
    if not number(stored[i]) then return {name, string.sub(stored[i], 1, 64)} end
  end
  tokens = tidy(math.max(lowest, number(stored[1])))
  last, unmoved = math.floor(number(stored[2]) * 1e6 + 0.5), stored[2]
end
local passed = now - last
if passed >= interval then
  tokens = tidy(math.min(capacity, tokens + math.floor(passed / interval) * refill))
  last, unmoved = now, nil
  if passed <= MOST then last = now - passed % interval end
end
local trusted = passed >= -keep

local function wait_for(target)
  local n = steps(tokens, target)
  if n == 0 then return 0 end
  return last + n * interval - now
end

local function expire(us)
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil(us / 1000)))
end

local function write()
  redis.call('HSET', key, 'tokens', text(tokens), 'last_refill', unmoved or text(last / 1e6))
  expire(keep + (trusted and wait_for(capacity) or 0))
end

local wait = 0
if op == 'charge' or op == 'refund' then
  if op == 'charge' and cost > 0 then
    tokens = math.max(lowest, tokens - cost)
    write()
  elseif cost > 0 and tokens < capacity then
    tokens = tidy(math.min(capacity, tokens + cost))
    write()
  end
  wait = wait_for(1)
elseif cost > capacity then
  wait = -1
elseif cost > tokens and cost > 0 then
  wait = wait_for(cost)
elseif op == 'take' and cost > 0 then
  tokens = tokens - cost
  write()
end
local reset = wait_for(capacity)

-- The other side's writes leave an expiry as it is, so that it may come while tokens are in use; and a time that is not
-- trusted ends with the key.
local refused = op == 'take' and wait ~= 0 and present > 0
if refused or not trusted then
  local left = redis.call('PTTL', key) * 1000
  local right = left
  if trusted and left >= 0 and left < reset then
    right = keep + reset
  elseif not trusted and (left < 0 or left > keep) then
    right = keep
  end
  if refused and right ~= left then expire(right) end
  if not trusted then
    reset = math.min(reset, right + 1000)
    if wait > 0 then wait = math.min(wait, right + 1000) end
  end
end
return {math.max(0, math.floor(tokens)), math.floor(wait), math.floor(reset)}
