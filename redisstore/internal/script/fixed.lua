-- fixed.lua: the fixed window aligned to the Unix epoch. Twin of algo.fixed in internal/algo/fixed.go.
-- KEYS, ARGV  those of batch.lua; a limit is f,limit,length
-- returns nothing: it is part of general, see prelude.lua
--
-- State: the time of the last charge, and the units in the window that holds it.
local function new_fixed(limit, length)
  return {
    family = 'f', format = '<dd', size = 16, quota = limit,

    sane = function(at, count)
      return whole(at, exact) and whole(count, exact)
    end,

    settle = function(at, count)
      local t = max(now, at)
      if count == 0 or at < t - t % length or at - now > length then
        return 0, 0
      end
      return at, count
    end,

    used = function(at, count)
      return count
    end,

    wait = function(cost, at, count)
      if cost <= limit - count then
        return 0
      end
      local t = max(now, at)
      return t - now + (length - t % length)
    end,

    charge = function(n, at, count)
      return max(at, now), add_capped(count, n, exact)
    end,

    refund = function(n, at, count)
      if n >= count then
        return 0, 0
      end
      return at, count - n
    end,

    carry = function(old, at, count)
      return at, count
    end,
  }
end
