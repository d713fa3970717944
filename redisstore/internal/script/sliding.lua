-- sliding.lua: the sliding window of two weighted counters. Twin of algo.sliding in internal/algo/sliding.go.
-- KEYS, ARGV  those of batch.lua; a limit is w,limit,length
-- returns nothing: it is part of general, see prelude.lua
--
-- State: the start of the current window, the previous count, and the current count.
local function new_sliding(limit, length)
  local max_count = 4398046511103
  if limit > max_count then
    return nil
  end

  -- faded returns what the previous window still counts for.
  local function faded(start, previous)
    if previous == 0 then
      return 0
    end
    return mul_div_floor(previous, length - max(0, now - start), length)
  end

  local function settle(start, previous, current)
    local begun = now - now % length
    if start > now then
      if start - now > 2 * length then
        return 0, 0, 0
      end
    elseif begun - start == length then
      start, previous, current = begun, current, 0
    elseif begun > start then
      return 0, 0, 0
    end
    if current == 0 and faded(start, previous) == 0 then
      return 0, 0, 0
    end
    return start, previous, current
  end

  return {
    family = 'w', format = '<ddd', size = 24, quota = limit, length = length,

    sane = function(start, previous, current)
      return whole(start, exact) and whole(previous, max_count) and whole(current, max_count)
    end,

    settle = settle,

    used = function(start, previous, current)
      return current + faded(start, previous)
    end,

    wait = function(cost, start, previous, current)
      if current + faded(start, previous) + cost <= limit then
        return 0
      end
      local windows, fading, left = 1, previous, limit - cost - current
      if left < 0 then
        windows, fading, left = 2, current, limit - cost
      end
      local rest = mul_div_ceil(left + 1, length, fading, length) - 1
      return add_capped(start - now, windows * length - rest, exact)
    end,

    charge = function(n, start, previous, current)
      if previous == 0 and current == 0 then
        start = now - now % length
      end
      return start, previous, add_capped(current, n, max_count)
    end,

    refund = function(n, start, previous, current)
      local now_back = min(n, current)
      return settle(start, max(0, previous - (n - now_back)), current - now_back)
    end,

    carry = function(old, start, previous, current)
      local most = min(limit + max(0, old.used(start, previous, current) - old.quota), max_count)
      return start, min(previous, most), min(current, most)
    end,
  }
end
