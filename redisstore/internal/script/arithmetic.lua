-- arithmetic.lua: what the algorithms share. Twin of algo.mulDivFloor in internal/algo/algo.go.
-- KEYS, ARGV  those of batch.lua
-- returns nothing: it is part of general, see prelude.lua
local floor, ceil, max, min = math.floor, math.ceil, math.max, math.min
local find, sub = string.find, string.sub
local pack, numbers = struct.pack, struct.unpack
local KEYS, try = KEYS, redis.pcall
local exact = 9007199254740991
local horizon = 3153600000000000

-- fail ends the work on a subject that cannot be decided. The problem is one of the codes of decide.lua.
local WINDOW, LISTS, FOREIGN, REDIS = -1, -2, -3, -4
local function fail(problem, detail)
  error({problem = problem, detail = detail})
end

-- attempt returns the reply of a command.
local function attempt(...)
  local reply = try(...)
  if type(reply) == 'table' and reply.err then
    fail(REDIS, reply.err)
  end
  return reply
end

-- whole says whether x is an integer from 0 to most.
local function whole(x, most)
  return x >= 0 and x <= most and x % 1 == 0
end

-- add_capped returns a + n, at most limit.
local function add_capped(a, n, limit)
  if n > limit - a then
    return limit
  end
  return a + n
end

-- mul_capped returns a x b, at most limit. b is positive.
local function mul_capped(a, b, limit)
  if a > limit / b then
    return limit
  end
  return a * b
end

-- mul_div returns a x b / c rounded down, and the remainder. a is below c, and c below 2^52. Where the product is too
-- large it takes the digits of b one after the other, to the base of step = floor(exact / c).
local function mul_div(a, b, c, step)
  if a <= exact / b then
    local q = floor(a * b / c)
    return q, a * b - q * c
  end
  local rest = floor(b / step)
  local q, r = mul_div(a, rest, c, step)
  local x, y = r * step, a * (b - rest * step)
  local qx, qy = floor(x / c), floor(y / c)
  x, y, q = x - qx * c, y - qy * c, q * step + qx + qy
  if x >= c - y then
    return q + 1, x - (c - y)
  end
  return q, x + y
end

-- mul_div_floor returns a x b / c rounded down. c is positive and below 2^52, the result must fit.
local function mul_div_floor(a, b, c)
  if a <= exact / b then
    return floor(a * b / c)
  end
  local times = floor(a / c)
  local q = mul_div(a - times * c, b, c, floor(exact / c))
  return times * b + q
end

-- mul_div_ceil returns a x b / c rounded up, at most limit. b and c are positive, c is below 2^52.
local function mul_div_ceil(a, b, c, limit)
  if a <= exact / b then
    return min(ceil(a * b / c), limit)
  end
  local times = floor(a / c)
  if times > limit / b then
    return limit
  end
  local q, r = mul_div(a - times * c, b, c, floor(exact / c))
  if r > 0 then
    q = q + 1
  end
  return add_capped(times * b, q, limit)
end
