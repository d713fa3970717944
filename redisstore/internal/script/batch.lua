-- batch.lua: a batch of requests, group by group. Twin of memstore.shard.apply in memstore/shard.go.
-- KEYS  each subject's key, and those of its lists            ARGV  now_us ("" = ask Redis TIME), then six for each group:
--       t take, p peek, r refund, c charge, x reset, or b take from smooth buckets alone, 1 to each capacity
--       cost
--       head of a record: the texts of the limits, such as b,20,1,100000|f,10,60000000;
--       extra numbers: see decide.lua; for b the format of a record, such as <c27dddd
--       how many subjects; equal keys must be neighbours
--       how many lists each of them declares, one for each limit or none; for b the doubles refill, unit, capacity x unit
--       and most units in use of each limit
-- returns  {remaining, wait_us, reset_us, ... texts}: of each limit of each subject in its place; wait is -1 for never.
--          A subject that was not decided has a negative code first: see decide.lua
local group -- is made when it is needed
local a, k, o = 2, 1, 1 -- where the next arguments, keys and answers begin

while ARGV[a] do
  local op, cost, head = ARGV[a], tonumber(ARGV[a + 1]), ARGV[a + 2]
  local extra, m, lists = ARGV[a + 3], tonumber(ARGV[a + 4]), ARGV[a + 5]
  a = a + 6

  -- What nearly all requests are has short ways: takes by subjects that are known under the same smooth buckets, or not at
  -- all, by a clock that goes forward. Where that does not hold, or Redis takes no write, they leave the rest of the group.
  local last = k + m - 1
  if op == 'b' and #lists > 32 then
    k, o = take_several(now, grace, out, head, extra, lists, cost, k, m, o)
  elseif op == 'b' then
    local refill, unit, full, most = numbers('<dddd', lists)
    local values, before, size, need = call('MGET', unpack(KEYS, k, last)), k - 1, #head + 16, cost * unit
    while k <= last do
      local key, v, first, row, used, at, charged, start, reset = KEYS[k], values[k - before], k, o, 0, now, false
      if v then
        if #v == size then
          start, used, at = numbers(extra, v)
        end
        if start ~= head then
          break
        end
      end
      if not (used >= 0 and used <= most and at >= 0 and at <= now and used % 1 + at % 1 == 0) then
        break
      end
      local elapsed = now - at
      if elapsed >= used / refill then
        used = 0
      else
        used = used - elapsed * refill
      end
      repeat -- as long as the key is the same
        local left, wait = full - used, 0
        if need <= left then
          used, left, charged = used + need, left - need, true
        else
          wait = ceil((need - left) / refill)
          if left < 0 then
            left = 0
          end
        end
        if refill == 1 then
          reset = used
        else
          reset = ceil(used / refill)
        end
        out[o], out[o + 1], out[o + 2] = (left - left % unit) / unit, wait, reset
        k, o = k + 1, o + 3
      until KEYS[k] ~= key or k > last
      if charged then
        local value, ttl, r = pack(extra, head, used, now), ceil(reset / 1000) + grace
        if v then
          r = try('PSETEX', key, ttl, value)
        else
          r = try('SET', key, value, 'PX', ttl, 'NX')
        end
        if not r or r.err then
          k, o = first, row
          break
        end
      end
    end
  end

  if op ~= 'b' or k <= last then
    group = group or general(now, grace, out, texts)
    if op == 'b' then
      op, extra, m, lists = 't', '', last - k + 1, 0
    end
    k, o = group(op, cost, head, extra, k, m, tonumber(lists), o)
  end
end

for i = 1, #texts do
  out[#out + 1] = texts[i]
end
if math.type then -- in Lua 5.4 a float is not sent as an integer
  for i = 1, #out - #texts do
    out[i] = math.floor(out[i])
  end
end
return out
