-- anchored.lua: the fixed window that starts with the first charge. Twin of algo.anchored in internal/algo/anchored.go.
-- KEYS, ARGV  those of batch.lua; a limit is a,limit,length
-- returns nothing: it is part of general, see prelude.lua
--
-- State: the start of the window, and the units in it.
local function new_anchored(limit, length)
  return {
    family = 'a', format = '<dd', size = 16, quota = limit,

    sane = function(start, count)
      return whole(start, exact) and whole(count, exact)
    end,

    settle = function(start, count)
      if count == 0 or now - start >= length or start - now > length then
        return 0, 0
      end
      return start, count
    end,

    used = function(start, count)
      return count
    end,

    wait = function(cost, start, count)
      if cost <= limit - count then
        return 0
      end
      return start - now + length
    end,

    charge = function(n, start, count)
      if count == 0 then
        start = now
      end
      return start, add_capped(count, n, exact)
    end,

    refund = function(n, start, count)
      if n >= count then
        return 0, 0
      end
      return start, count - n
    end,

    carry = function(old, start, count)
      return start, count
    end,
  }
end
