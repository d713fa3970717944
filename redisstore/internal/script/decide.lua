-- decide.lua: one decision over all limits of a subject. Twin of memstore.shard.applyAll in memstore/shard.go.
-- KEYS, ARGV  those of batch.lua; a group's extra arguments are the bounds of its calendar windows, four for each
-- returns  the answers in out, or of a subject that was not decided a code and a detail: -1 a window is needed that is not
--          among the bounds, and for which time; -2 lists must be declared; -3 the record is foreign; -4 Redis refused,
--          and which of the texts says why
--
-- A record is one string: the texts of the limits, as in the arguments, then the numbers of each limit's state, as
-- doubles; all zero is fresh. There is none when all are fresh.
local formats = {nil, '<dd', '<ddd', '<dddd'}

-- report answers a problem for all n limits of rows subjects, from out[o] on.
local function report(o, n, rows, problem, detail)
  if problem == REDIS then
    texts[#texts + 1] = detail
    detail = #texts
  end
  for i = o, o + 3 * n * rows - 1 do
    out[i] = 0
  end
  for i = o, o + 3 * n * rows - 1, 3 * n do
    out[i], out[i + 1] = problem, detail or 0
  end
end

-- positive reads a number from 1 to most.
local function positive(text, most)
  local n = find(text, '^%d+$') and tonumber(text)
  return n and n >= 1 and n <= most and n
end

-- algorithm returns what decides the limit of a text, nil if that is none.
local function algorithm(text)
  local kind, x, y, z = match(text, '^(%l),(%d+),(%w+),?(.*)$')
  local quota = kind and positive(x, exact)
  if not quota then
    return nil
  elseif kind == 'c' then
    return new_calendar(quota)
  elseif kind == 'b' or kind == 's' then
    local refill, period = positive(y, exact), positive(z, horizon)
    if not refill or not period then
      return nil
    elseif kind == 'b' then
      return new_bucket(quota, refill, period)
    end
    return new_stepwise(quota, refill, period)
  end
  local length = z == '' and positive(y, horizon)
  if not length then
    return nil
  elseif kind == 'f' then
    return new_fixed(quota, length)
  elseif kind == 'a' then
    return new_anchored(quota, length)
  elseif kind == 'w' then
    return new_sliding(quota, length)
  elseif kind == 'l' then
    return new_log(quota, length)
  end
end

-- scope_of returns the algorithms of a record that begins with head, with where in it their numbers begin; false if
-- head is no such thing. Equal texts have the same algorithm.
local algorithms, scopes = {}, {}
local function scope_of(head)
  local s = scopes[head]
  if s ~= nil then
    return s
  end
  s = {head = head, size = #head, at = {}, text = {}}
  for text in gmatch(head, '([^|;]+)[|;]') do
    local a = algorithms[text] or algorithm(text)
    if not a then
      s = false
      break
    end
    algorithms[text] = a
    local n = #s + 1
    s[n], s.text[n], s.at[n], s.size = a, text, s.size + 1, s.size + 8 * a.size
  end
  scopes[head] = s
  return s
end

-- record_of returns what the record v was written under.
local function record_of(v)
  local stop = find(v, ';', 1, true)
  local s = stop and scope_of(sub(v, 1, stop))
  if not s or #s == 0 or #v ~= s.size or concat(s.text, '|') .. ';' ~= s.head then
    fail(FOREIGN)
  end
  return s
end

-- carry turns a state under old into one under new.
local function carry(old, new, w, x, y, z)
  w, x, y, z = old.settle(w, x, y, z)
  local used = old.used(w, x, y, z)
  if used == 0 then
    return 0, 0, 0, 0
  elseif old.family == new.family then
    return new.settle(new.carry(old, w, x, y, z))
  end
  return recharge(old, new, used)
end

-- wait returns how long cost must wait: 0 if it is admitted now, -1 if it never is.
local function wait(algorithm, cost, w, x, y, z)
  if cost == 0 then
    return 0
  elseif cost > algorithm.quota then
    return -1
  end
  return algorithm.wait(cost, w, x, y, z)
end

-- The subject at hand: the numbers of its settled states, what becomes of them, and what is said of them.
local w, x, y, z = {}, {}, {}, {}
local changed, written, lists, waits, resets = {}, {}, {}, {}, {}

-- check fails if a reply is an error.
local function check(reply)
  if type(reply) == 'table' and reply.err then
    fail(REDIS, reply.err)
  end
  return reply
end

-- read settles the states of the record v, if there is one, under s, and returns what it was written under. To forget
-- them it makes all of them fresh, and written.
local function read(s, k, v, declared, forget)
  local old = s
  if v and (#v ~= s.size or find(v, s.head, 1, true) ~= 1) then
    old = record_of(v)
  end
  for i = 1, #s do
    local was, new = v and old[i], s[i]
    changed[i], written[i] = was and was ~= new, forget
    w[i], x[i], y[i], z[i] = 0, 0, 0, 0
    if declared > 0 then
      list = {key = KEYS[k + i], first = 0, shift = 0}
      lists[i] = list
    elseif new.flush or was and was.flush then
      fail(LISTS)
    end
    if was and not forget then
      local p, q, r, t = numbers(formats[was.size], v, old.at[i])
      if not was.sane(p, q, r, t) then
        fail(FOREIGN)
      elseif was == new then
        w[i], x[i], y[i], z[i] = new.settle(p, q, r, t)
      else
        w[i], x[i], y[i], z[i] = carry(was, new, p, q, r, t)
      end
    end
  end
  return old
end

-- save writes the record: the states that are written, the others as they were, and those of limits beyond the scope's.
-- Redis is out of memory or is not as of the beginning of a script: if it takes the record it takes the lists.
local function save(s, old, k, v, declared, longest)
  local n, key, ttl = #s, KEYS[k], max(1, ceil(longest / 1000)) + grace
  local gone = longest == 0 and #old <= n
  if gone then
    check(try('DEL', key))
  else
    local head, parts = s.head, {}
    for i = 1, n do
      if written[i] then
        parts[i] = pack(formats[s[i].size], w[i], x[i], y[i], z[i])
      elseif v and old[i] then
        parts[i] = sub(v, old.at[i], old.at[i] + 8 * s[i].size - 1)
      else
        parts[i] = pack(formats[s[i].size], 0, 0, 0, 0)
      end
    end
    if v and #old > n then
      head = sub(head, 1, -2) .. '|' .. concat(old.text, '|', n + 1) .. ';'
      parts[n + 1] = sub(v, old.at[n + 1])
      ttl = max(ttl, try('PTTL', key))
    end
    local value = head .. concat(parts)
    if v then
      check(try('PSETEX', key, ttl, value))
    elseif not check(try('SET', key, value, 'PX', ttl, 'NX')) then
      check(try('GET', key)) -- it is of another type, and stays as it is
    end
  end
  for i = 1, declared do
    list = lists[i]
    if written[i] and s[i].flush then
      s[i].flush(ttl, w[i], x[i], y[i])
    elseif (written[i] or gone) and v and old[i] and old[i].flush then
      check(try('UNLINK', list.key))
    end
  end
end

-- decide decides as many requests as there are rows for the subject of KEYS[k], whose record is v, one after the other,
-- and answers them from out[o] on. Only where lists are declared it writes each time: then there is one row.
local function decide(op, cost, s, k, rows, v, declared, o)
  local n, forget, longest = #s, op == 'x', 0
  local old, dirty = read(s, k, v, declared, forget), forget and v
  for row = 1, forget and 0 or rows do
    local admitted = op == 't'
    for i = 1, n do
      list = lists[i]
      if op == 't' or op == 'p' then
        waits[i] = wait(s[i], cost, w[i], x[i], y[i], z[i])
        admitted = admitted and waits[i] == 0
      end
    end
    longest = 0
    for i = 1, n do
      list = lists[i]
      local a = s[i]
      if cost > 0 and (admitted or op == 'c') then
        w[i], x[i], y[i], z[i] = a.charge(cost, w[i], x[i], y[i], z[i])
        written[i] = true
      elseif cost > 0 and op == 'r' and a.used(w[i], x[i], y[i], z[i]) > 0 then
        w[i], x[i], y[i], z[i] = a.refund(cost, w[i], x[i], y[i], z[i])
        written[i] = true
      elseif changed[i] and op ~= 'p' then
        written[i] = true
      end
      dirty = dirty or written[i]
      resets[i] = a.wait(a.quota, w[i], x[i], y[i], z[i])
      longest = max(longest, resets[i])
    end
    if declared > 0 and dirty then
      save(s, old, k, v, declared, longest)
    end
    for i = 1, n do
      list = lists[i]
      local a = s[i]
      if op == 'r' or op == 'c' then
        waits[i] = wait(a, 1, w[i], x[i], y[i], z[i])
      end
      out[o] = max(0, a.quota - a.used(w[i], x[i], y[i], z[i]))
      out[o + 1], out[o + 2] = waits[i], resets[i]
      o = o + 3
    end
  end
  if dirty and (forget or declared == 0) then
    save(s, old, k, v, declared, longest)
  elseif not v and not dirty then
    check(try('GET', KEYS[k])) -- MGET finds nothing in a key of another type
  end
  if forget then
    for i = o, o + 3 * n * rows - 1 do
      out[i] = 0
    end
  end
end

-- run is decide, which may fail.
local function run(op, cost, head, k, rows, v, declared, o)
  local s = scope_of(head)
  local ok, e = pcall(decide, op, cost, s, k, rows, v, declared, o)
  if not ok then
    if type(e) ~= 'table' or not e.problem then
      error(e, 0)
    end
    report(o, #s, rows, e.problem, e.detail)
  end
end

-- group decides the requests of a group and returns where the keys and the answers of the next begin.
local function group(op, cost, head, bounds, k, m, declared, o)
  local s, subjects, stride = scope_of(head), {}, 1 + declared
  local bound = gmatch(bounds, '(%d+),(%d+),(%d+),(%d+),')
  repeat
    local p, q, r, t
    for i = 1, #s do
      if s[i].know then
        p, q, r, t = bound()
        if p then
          s[i].know(tonumber(p), tonumber(q), tonumber(r), tonumber(t))
        end
      end
    end
  until not p
  for i = 1, m do
    subjects[i] = KEYS[k + stride * (i - 1)]
  end
  local values, i = call('MGET', unpack(subjects)), 1
  while i <= m do
    local v, rows = values[i], 1
    if declared == 0 then
      while i + rows <= m and subjects[i + rows] == subjects[i] do
        rows = rows + 1
      end
    elseif subjects[i - 1] == subjects[i] then
      v = try('GET', subjects[i])
      if type(v) == 'table' then
        v = false
      end
    end
    run(op, cost, head, k + stride * (i - 1), rows, v, declared, o)
    i, o = i + rows, o + 3 * #s * rows
  end
  return k + stride * m, o
end

return group
