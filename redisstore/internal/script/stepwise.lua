-- stepwise.lua: the token bucket with whole intervals. Twin of algo.stepwise in internal/algo/stepwise.go.
-- KEYS, ARGV  those of batch.lua; a limit is s,capacity,refill,interval
-- returns nothing: it is part of general, see prelude.lua
--
-- State: tokens in use, and the time of the last step.
local function new_stepwise(capacity, refill, interval)
  local steps = ceil(capacity / refill)
  if steps > horizon / interval then
    return nil
  end
  local max_used, full_time = mul_capped(floor(horizon / interval), refill, exact), steps * interval

  return {
    family = 's', format = '<dd', size = 16, quota = capacity, interval = interval,

    sane = function(used, at)
      return whole(used, max_used) and whole(at, exact)
    end,

    settle = function(used, at)
      if used == 0 or at - now > full_time then
        return 0, 0
      elseif now <= at then
        return used, at
      end
      local passed = floor((now - at) / interval)
      if passed >= used / refill then
        return 0, 0
      end
      return used - passed * refill, at + passed * interval
    end,

    used = function(used)
      return used
    end,

    wait = function(cost, used, at)
      local left = capacity - used
      if cost <= left then
        return 0
      end
      return at - now + ceil((cost - left) / refill) * interval
    end,

    charge = function(n, used, at)
      if used == 0 then
        at = now
      end
      return add_capped(used, n, max_used), at
    end,

    refund = function(n, used, at)
      if n >= used then
        return 0, 0
      end
      return used - n, at
    end,

    carry = function(old, used, at)
      local most = add_capped(capacity, max(0, used - old.quota), max_used)
      if at < now then
        at = max(0, now - mul_div_floor(now - at, interval, old.interval))
      elseif at - now > full_time then
        at = now + full_time
      end
      return min(used, most), at
    end,
  }
end
