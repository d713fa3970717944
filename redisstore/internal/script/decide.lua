-- decide.lua: one decision over all limits of a subject. Twin of memstore.shard.applyAll in memstore/shard.go.
-- KEYS, ARGV  those of batch.lua; the extra numbers are the bounds of calendar windows, four for each that the scope has,
--             and as many again for each time around which they are known
-- returns  the answers in out, or of a subject that was not decided a code and a detail: -1 a calendar window is not
--          known, and at what time; -2 lists must be declared; -3 the record is foreign; -4 Redis refused a command, and
--          which of the texts says why
--
-- A record is one string: its head, and the numbers of each limit's state as doubles. All zero is fresh; a record in which
-- all are fresh is not kept.

-- The subject at hand: of limit i the numbers of its settled state, from state[6 * i] on, whether they were written under
-- another limit, and whether they shall be written. Then its lists.
local state = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
local lists = {}

-- read settles the states of the record v, if there is one, under s, and returns what it was written under. To forget
-- them it makes all of them fresh, and written.
local function read(s, k, v, declared, forget)
  local old, from = s, #s.head + 1
  if v and (#v ~= s.size or find(v, s.head, 1, true) ~= 1) then
    from = (find(v, ';', 1, true) or 0) + 1
    old = scope_of(sub(v, 1, from - 1))
    if not old or #v ~= old.size then
      fail(FOREIGN)
    end
  end
  for i = 1, s.n do
    local b, new, was = 6 * i, s[i], v and old[i]
    local w, x, y, z = 0, 0, 0, 0
    if declared > 0 then
      list = {key = KEYS[k + i], first = 0, shift = 0}
      lists[i] = list
    elseif new.flush or was and was.flush then
      fail(LISTS)
    end
    if was then
      if not forget then
        w, x, y, z = numbers(was.format, v, from)
        if not was.sane(w, x, y, z) then
          fail(FOREIGN)
        elseif was == new then
          w, x, y, z = new.settle(w, x, y, z)
        else
          w, x, y, z = carry(was, new, w, x, y, z)
        end
      end
      from = from + was.size
    end
    state[b], state[b + 1], state[b + 2], state[b + 3], state[b + 4], state[b + 5] = w, x, y, z, was and was ~= new, forget
  end
  return old
end

-- record returns the record of the states that are to be written, the others as they are in v, and those of limits beyond
-- the scope's.
local function record(s, old, v)
  local head, data, from = s.head, nil, #old.head + 1
  for i = 1, s.n do
    local b, a, numbers = 6 * i, s[i], nil
    if state[b + 5] then
      numbers = pack(a.format, state[b], state[b + 1], state[b + 2], state[b + 3])
    elseif v and old[i] then
      numbers = sub(v, from, from + a.size - 1)
    else
      numbers = pack(a.format, 0, 0, 0, 0)
    end
    data = data and data .. numbers or numbers
    if old[i] then
      from = from + old[i].size
    end
  end
  if old.n > s.n then
    head = sub(head, 1, -2) .. '|' .. match(old.head, string.rep('[^|]+|', s.n) .. '(.*)')
    data = data .. sub(v, from)
  end
  return head .. data
end

-- save writes the record, or deletes it when all is fresh. Redis is out of memory or not as of the beginning of a script:
-- if it takes the record it takes the lists.
local function save(s, old, k, v, declared, longest)
  local key, ttl, gone = KEYS[k], max(1, ceil(longest / 1000)) + grace, longest == 0 and old.n <= s.n
  if gone then
    attempt('DEL', key)
  elseif v then
    if old.n > s.n then
      ttl = max(ttl, attempt('PTTL', key))
    end
    attempt('PSETEX', key, ttl, record(s, old, v))
  elseif not attempt('SET', key, record(s, old, v), 'PX', ttl, 'NX') then
    attempt('GET', key) -- it is of another type, and stays as it is
  end
  for i = 1, declared do
    local b = 6 * i
    list = lists[i]
    if state[b + 5] and s[i].flush then
      s[i].flush(ttl, state[b], state[b + 1], state[b + 2])
    elseif (state[b + 5] or gone) and v and old[i] and old[i].flush then
      attempt('UNLINK', list.key)
    end
  end
end

-- decide decides as many requests as there are rows for the subject of KEYS[k], whose record is v, one after the other,
-- and answers them from out[o] on. Only where lists are declared it writes each time: then there is one row.
local function decide(op, cost, s, k, rows, v, declared, o)
  local n, forget, longest = s.n, op == 'x', 0
  local old, dirty = read(s, k, v, declared, forget), forget and v
  for first = o, o + 3 * n * (rows - 1), 3 * n do
    local admitted = op == 't'
    for i = 1, n do
      local a, b, r, wait = s[i], 6 * i, first + 3 * (i - 1), 0
      if cost > a.quota then
        wait = -1
      elseif cost > 0 and (admitted or op == 'p' or op == 't') then
        list = lists[i]
        wait = a.wait(cost, state[b], state[b + 1], state[b + 2], state[b + 3])
      end
      admitted = admitted and wait == 0
      out[r], out[r + 1], out[r + 2] = 0, wait, 0
    end
    longest = 0
    for i = 1, forget and 0 or n do
      local a, b, r = s[i], 6 * i, first + 3 * (i - 1)
      local w, x, y, z = state[b], state[b + 1], state[b + 2], state[b + 3]
      local written = state[b + 4] and op ~= 'p'
      list = lists[i]
      if cost > 0 and (admitted or op == 'c') then
        w, x, y, z = a.charge(cost, w, x, y, z)
        written = true
      elseif cost > 0 and op == 'r' and a.used(w, x, y, z) > 0 then
        w, x, y, z = a.refund(cost, w, x, y, z)
        written = true
      end
      if written then
        state[b], state[b + 1], state[b + 2], state[b + 3], state[b + 5] = w, x, y, z, true
        dirty = true
      end
      local left, reset = a.quota - a.used(w, x, y, z), a.wait(a.quota, w, x, y, z)
      if left > 0 then
        out[r] = left
      end
      if reset > longest then
        longest = reset
      end
      out[r + 2] = reset
    end
    if declared > 0 and dirty then
      save(s, old, k, v, declared, longest)
    end
    if op == 'r' or op == 'c' then
      for i = 1, n do
        local b = 6 * i
        list = lists[i]
        out[first + 3 * i - 2] = s[i].wait(1, state[b], state[b + 1], state[b + 2], state[b + 3])
      end
    end
  end
  if dirty and declared == 0 then
    save(s, old, k, v, declared, longest)
  elseif not v and not dirty then
    attempt('GET', KEYS[k]) -- MGET finds nothing in a key of another type
  end
end

-- report answers a problem instead of rows, each of them n limits, from out[o] on.
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

-- group decides the requests of a group and returns where the keys and the answers of the next begin.
return function(op, cost, head, bounds, k, m, declared, o)
  local s, stride, unpack = scope_of(head), 1 + declared, table.unpack or unpack
  if bounds ~= '' then
    local know, i = {}, 0
    for i = 1, s.n do
      know[#know + 1] = s[i].know
    end
    for p, q, r, t in gmatch(bounds, '(%d+),(%d+),(%d+),(%d+),') do
      i = i % #know + 1
      know[i](tonumber(p), tonumber(q), tonumber(r), tonumber(t))
    end
  end
  local subjects = KEYS
  if declared > 0 then
    subjects = {}
    for i = k, k + m - 1 do
      subjects[i] = KEYS[k + stride * (i - k)]
    end
  end
  local values, i = redis.call('MGET', unpack(subjects, k, k + m - 1)), k
  while i < k + m do
    local v, rows, key = values[i - k + 1], 1, subjects[i]
    if declared == 0 then
      while i + rows < k + m and subjects[i + rows] == key do
        rows = rows + 1
      end
    elseif subjects[i - 1] == key then
      v = try('GET', key)
      if type(v) == 'table' then
        v = false
      end
    end
    local ok, e = pcall(decide, op, cost, s, k + stride * (i - k), rows, v, declared, o)
    if not ok then
      if type(e) ~= 'table' or not e.problem then
        error(e, 0)
      end
      report(o, s.n, rows, e.problem, e.detail)
    end
    i, o = i + rows, o + 3 * s.n * rows
  end
  return k + stride * m, o
end
