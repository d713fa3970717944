-- several.lua: takes from several smooth buckets at once. Twin of memstore.shard.takeAll in memstore/shard.go.
-- KEYS, ARGV  those of batch.lua
-- returns nothing: batch.lua ends the script
--
-- take_several is the short way of batch.lua for subjects with more than one limit: of m subjects, whose keys begin at
-- KEYS[k] and whose answers at out[o]. It returns where the subjects and answers begin that it left.
local function take_several(now, grace, out, head, format, limits, cost, k, m, o)
  local try, numbers, pack, unpack = redis.pcall, struct.unpack, struct.pack, table.unpack or unpack
  local keys, ceil, max, before, last = KEYS, math.ceil, math.max, k - 1, k + m - 1
  local values = redis.call('MGET', unpack(keys, k, last))
  local refills, units, fulls, mosts, needs, n = {}, {}, {}, {}, {}, #limits / 32
  for i = 1, n do
    refills[i], units[i], fulls[i], mosts[i] = numbers('<dddd', limits, 32 * i - 31)
    needs[i] = cost * units[i]
  end
  local size, s, start = #head + 16 * n, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

  while k <= last do
    local key, v, first, answers, charged, longest = keys[k], values[k - before], k, o, false
    if not v then
      for i = 1, 2 * n do
        s[i] = 0
      end
    elseif #v ~= size then
      break
    elseif n < 4 then
      start, s[1], s[2], s[3], s[4], s[5], s[6] = numbers(format, v)
    else
      start, s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10], s[11], s[12], s[13], s[14], s[15], s[16] =
        numbers(format, v)
    end
    local sound = not v or start == head

    repeat -- as long as the key is the same
      local admitted, a, row = true, 1, o
      longest = 0
      for i = 1, n do -- as if all of them admitted it
        local used, at, refill, unit, need = s[a], s[a + 1], refills[i], units[i], needs[i]
        if not (used >= 0 and used <= mosts[i] and at >= 0 and at <= now and used % 1 + at % 1 == 0) then
          sound = false
          break
        end
        local elapsed = now - at
        if elapsed >= used / refill then
          used = 0
        else
          used = used - elapsed * refill
        end
        local left, wait, reset = fulls[i] - used, 0, used
        if need <= left then
          reset, left = used + need, left - need
        else
          admitted, wait, left = false, ceil((need - left) / refill), max(0, left)
        end
        s[a], s[a + 1] = reset, now
        if refill > 1 then
          reset = ceil(reset / refill)
        end
        if reset > longest then
          longest = reset
        end
        out[o], out[o + 1], out[o + 2] = (left - left % unit) / unit, wait, reset
        a, o = a + 2, o + 3
      end
      if not sound then
        break
      elseif admitted then
        charged = true
      else
        longest = 0
        for i = 1, n do -- those that did give it back
          if out[row + 1] == 0 then
            local used, unit = s[2 * i - 1] - needs[i], units[i]
            local left = fulls[i] - used
            s[2 * i - 1], out[row], out[row + 2] = used, (left - left % unit) / unit, ceil(used / refills[i])
          end
          longest, row = max(longest, out[row + 2]), row + 3
        end
      end
      k = k + 1
    until keys[k] ~= key or k > last

    if sound and charged then
      local value, ttl, r = pack(format, head, unpack(s, 1, 2 * n)), ceil(longest / 1000) + grace
      if v then
        r = try('PSETEX', key, ttl, value)
      else
        r = try('SET', key, value, 'PX', ttl, 'NX')
      end
      sound = r and not r.err
    end
    if not sound then
      return first, answers
    end
  end
  return k, o
end
