-- scope.lua: limits by their texts, and what changes from one to another. Twin of algo.For in internal/algo/algo.go.
-- KEYS, ARGV  those of batch.lua
-- returns nothing: it is part of general, see prelude.lua
local match, gmatch = string.match, string.gmatch

-- algorithm returns what decides the limit of a text, nil if that is none.
local function algorithm(text)
  local kind, x, rest = match(text, '^(%l),(%d+),(.+)$')
  x = tonumber(x)
  if not x or x < 1 or x > exact then
    return nil
  elseif kind == 'c' then
    return new_calendar(x)
  end
  local y, z
  if kind == 'b' or kind == 's' then
    y, z = match(rest, '^(%d+),(%d+)$')
    y, z = tonumber(y), tonumber(z)
    if not y or y < 1 or y > exact or z < 1 or z > horizon then
      return nil
    elseif kind == 'b' then
      return new_bucket(x, y, z)
    end
    return new_stepwise(x, y, z)
  end
  y = match(rest, '^%d+$') and tonumber(rest)
  if not y or y < 1 or y > horizon then
    return nil
  elseif kind == 'f' then
    return new_fixed(x, y)
  elseif kind == 'a' then
    return new_anchored(x, y)
  elseif kind == 'w' then
    return new_sliding(x, y)
  elseif kind == 'l' then
    return new_log(x, y)
  end
end

-- scope_of returns the algorithms of records that begin with head, and how long these are; false if there are no such
-- records. Equal texts have the same algorithm.
local known = {}
local function scope_of(head)
  local s = known[head]
  if s ~= nil then
    return s
  end
  local n, read, size = 0, 0, #head
  s = {false, head = head, n = 0, size = 0}
  for text in gmatch(head, '([^|;]+)[|;]') do
    local a = known[text] or algorithm(text)
    if not a then
      break
    end
    n, read, size = n + 1, read + #text + 1, size + a.size
    known[text], s[n] = a, a
  end
  s.n, s.size = n, size
  if n == 0 or read ~= #head then
    s = false
  end
  known[head] = s
  return s
end

-- carry turns a state under old into one under new.
local function carry(old, new, w, x, y, z)
  w, x, y, z = old.settle(w, x, y, z)
  local used = old.used(w, x, y, z)
  if used == 0 then
    return 0, 0, 0, 0
  elseif old.family == new.family and old.length == new.length then
    return new.settle(new.carry(old, w, x, y, z))
  end
  local debt = max(0, used - old.quota)
  if used - debt > new.quota then
    used = new.quota + debt
  end
  return new.charge(used, 0, 0, 0, 0)
end
