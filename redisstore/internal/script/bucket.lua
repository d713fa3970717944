-- bucket.lua: the smooth bucket. Twin of algo.Bucket in internal/algo/bucket.go.
-- KEYS, ARGV  those of batch.lua; a limit is b,capacity,refill,unit
-- returns nothing: it is part of general, see prelude.lua
--
-- State: units in use, and their time.
local function new_bucket(capacity, refill, unit)
  if capacity > exact / unit then
    return nil
  end
  local full = capacity * unit
  local max_used, full_time = mul_capped(horizon, refill, exact), ceil(full / refill)
  if full_time > horizon then
    return nil
  end

  return {
    family = 'b', format = '<dd', size = 16, quota = capacity, full = full, unit = unit,

    sane = function(used, at)
      return whole(used, max_used) and whole(at, exact)
    end,

    settle = function(used, at)
      if used == 0 then
        return 0, 0
      elseif now <= at then
        if at - now > full_time then
          return 0, 0
        end
        return used, at
      end
      local elapsed = now - at
      if elapsed >= used / refill then
        return 0, 0
      end
      return used - elapsed * refill, now
    end,

    used = function(used)
      return ceil(used / unit)
    end,

    wait = function(cost, used, at)
      local need, left = cost * unit, full - used
      if need <= left then
        return 0
      end
      return ceil((need - left) / refill) + max(0, at - now)
    end,

    charge = function(n, used, at)
      return add_capped(used, mul_capped(n, unit, exact), max_used), max(at, now)
    end,

    refund = function(n, used, at)
      if n >= used / unit then
        return 0, 0
      end
      return used - n * unit, at
    end,

    carry = function(old, used, at)
      local debt = max(0, used - old.full)
      used = mul_div_ceil(used, unit, old.unit, max_used)
      local most = add_capped(full, mul_div_ceil(debt, unit, old.unit, max_used), max_used)
      if at - now > full_time then
        at = now + full_time
      end
      return min(used, most), at
    end,
  }
end
