-- log.lua: the sliding log. Twin of algo.log in internal/algo/log.go.
-- KEYS, ARGV  those of batch.lua; a limit is l,limit,length
-- returns nothing: it is part of general, see prelude.lua
--
-- State: the total of units ever charged before the first stamp that counts, the total up to now, and the time of the
-- newest stamp. The stamps are in a list: the time of each, and the total with it. So what is in use is the difference of
-- two totals, what expires or is given back only moves one of them, and a stamp is found by halving. Stamps that no longer
-- count may still be in the list: a decision that writes nothing does not drop them.
--
-- list is the list of the position at hand, and what this decision has done to it that flush will write:
--   key
--   first  the place of the first stamp that counts
--   keep   the place of the last that is kept, if some are dropped behind it
--   shift  is taken off each total
--   none   there is nothing in it that counts
--   stale  and yet it exists
--   push   the newest stamp must be added
--   last   the last stamp is the newest, but its numbers differ
local list

local function new_log(limit, length)
  -- entry returns the time and the total of the stamp at a place, nil if there is none.
  local function entry(place)
    if list.none then
      return nil
    end
    local stamp, at, total = attempt('LINDEX', list.key, place)
    if not stamp then
      return nil
    end
    if #stamp == 16 then
      at, total = numbers('<dd', stamp)
    end
    if not at or not whole(at, exact) or not whole(total, exact) then
      fail(FOREIGN)
    end
    return at, total - list.shift
  end

  -- seek finds the first stamp whose time, or else whose total, is above x. It returns its place, its time, nil if there is
  -- no such stamp, and the total before it. Mostly it is one of the first: seek doubles its steps before it halves them.
  local function seek(by_time, x, base)
    local low, high, step, found = list.first - 1, list.first, 1, nil
    while true do
      local at, total = entry(high)
      if not at or (by_time and at or total) > x then
        found = at
        break
      end
      low, base, high, step = high, total, high + step, step * 2
    end
    while high - low > 1 do
      local middle = floor((low + high) / 2)
      local at, total = entry(middle)
      if not at or (by_time and at or total) > x then
        high, found = middle, at
      else
        low, base = middle, total
      end
    end
    return high, found, base
  end

  return {
    family = 'l', format = '<ddd', size = 24, quota = limit,

    sane = function(base, total, newest)
      return whole(total, exact) and whole(base, total) and whole(newest, exact)
    end,

    settle = function(base, total, newest)
      if total > base and now - newest < length and newest - now <= length then
        local first, at, before = seek(true, max(now, newest) - length, base)
        if at then
          list.first = first
          return before, total, newest
        end
      end
      return 0, 0, 0 -- expired, or the list was evicted
    end,

    used = function(base, total)
      return total - base
    end,

    wait = function(cost, base, total, newest)
      local short = cost - (limit - (total - base))
      if short <= 0 then
        return 0
      end
      local at
      if short < total - base then
        local _, found = seek(false, base + short - 1, base)
        at = found
      end
      return (at or newest) - now + length
    end,

    charge = function(n, base, total, newest)
      if total == base then
        list.none, list.stale, list.push = true, attempt('LLEN', list.key) > 0, true
        return 0, n, now
      end
      n = min(n, exact - (total - base))
      if n == 0 then
        return base, total, newest
      elseif n > exact - total then
        list.shift = base
        base, total = 0, total - base
      end
      total = total + n
      if newest < now then
        list.push, newest = true, now
      elseif not list.push then
        list.last = true
      end
      if total - base > limit then -- one stamp holds all debt
        local first = seek(false, total - limit, base) - 1
        if list.last then
          first = min(first, attempt('LLEN', list.key) - 2)
        end
        list.first = max(list.first, first)
      end
      return base, total, newest
    end,

    refund = function(n, base, total, newest)
      if n >= total - base then
        return 0, 0, 0
      end
      total = total - n
      list.last = true
      local _, before = entry(-2)
      if before and before >= total then
        list.keep, newest = seek(false, total - 1, base)
      end
      return base, total, newest
    end,

    carry = function(old, base, total, newest)
      return base, total, newest
    end,

    -- flush writes what has become of the list, once the record is written. The list lives for ttl.
    flush = function(ttl, base, total, newest)
      local key = list.key
      if total == base or list.stale then
        attempt('UNLINK', key)
      elseif list.shift > 0 then
        local stamps = attempt('LRANGE', key, list.first, -1)
        attempt('UNLINK', key)
        for i, stamp in ipairs(stamps) do
          local at, total = numbers('<dd', stamp)
          attempt('RPUSH', key, pack('<dd', at, total - list.shift))
        end
      elseif list.first > 0 or list.keep then
        attempt('LTRIM', key, list.first, list.keep or -1)
      end
      if total > base then
        if list.push then
          attempt('RPUSH', key, pack('<dd', newest, total))
        elseif list.last then
          attempt('LSET', key, -1, pack('<dd', newest, total))
        end
        attempt('PEXPIRE', key, ttl)
      end
      list.first, list.shift = 0, 0
    end,
  }
end
