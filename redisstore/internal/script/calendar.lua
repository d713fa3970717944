-- calendar.lua: the fixed window of a calendar. Twin of algo.fixed in internal/algo/fixed.go.
-- KEYS, ARGV  those of batch.lua; a limit is c,limit,unit,zone, with the bounds of windows around the time
-- returns nothing: it is part of general, see prelude.lua
--
-- State: the time of the last charge, the units in the window that holds it, and that window's start and end. So a state
-- is settled without knowing the calendar. Where a window is needed that is not known, the client is asked for it.
local function new_calendar(limit)
  local ends = {} -- of the windows that are known, by their starts

  -- window returns the window [start, stop) that holds t.
  local function window(t)
    for start, stop in pairs(ends) do
      if start <= t and t < stop then
        return start, stop
      end
    end
    fail(WINDOW, t)
  end

  return {
    family = 'f', format = '<dddd', size = 32, quota = limit,

    -- know takes the bounds of three windows that follow each other. The first may be empty: see calendar.go.
    know = function(a, b, c, d)
      ends[a] = b
      ends[b] = c
      ends[c] = d
    end,

    sane = function(at, count, start, stop)
      return whole(at, exact) and whole(count, exact) and
        (count == 0 or whole(start, at) and whole(stop, 2 * exact) and at < stop)
    end,

    settle = function(at, count, start, stop)
      if count == 0 or at < start or now >= stop or at - now > stop - start then
        return 0, 0, 0, 0
      end
      return at, count, start, stop
    end,

    used = function(at, count)
      return count
    end,

    wait = function(cost, at, count, start, stop)
      if cost <= limit - count then
        return 0
      end
      return stop - now
    end,

    charge = function(n, at, count, start, stop)
      if count == 0 then
        start, stop = window(now)
      end
      return max(at, now), add_capped(count, n, exact), start, stop
    end,

    refund = function(n, at, count, start, stop)
      if n >= count then
        return 0, 0, 0, 0
      end
      return at, count - n, start, stop
    end,

    carry = function(old, at, count)
      return at, count, window(max(now, at))
    end,
  }
end
