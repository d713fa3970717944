-- prelude.lua: time, and what the script begins with. Twin of script.Reply in redisstore/internal/script/reply.go.
-- KEYS, ARGV  those of batch.lua
-- returns nothing: batch.lua ends the script
--
-- A run of the script first makes the functions that it uses, and most runs need few. So only what stands here and in
-- batch.lua is made at once; the other files are the body of one function, general, for those that need more.
--
-- A number is a double, exact up to 2^53. No sum and no product may pass that: they are compared before they are made.
-- The quotient of two such integers is exact when floor or ceil rounds it, and when an integer is compared with it.
local KEYS, ARGV = KEYS, ARGV
local call, try = redis.call, redis.pcall
local pack, numbers = struct.pack, struct.unpack
local ceil, unpack = math.ceil, table.unpack or unpack

-- The time of all decisions. If the caller brings it, keys live longer by grace, for Redis counts by its own clock.
local now, grace = tonumber(ARGV[1]), 3600000
if not now then
  local time = call('TIME')
  now, grace = tonumber(time[1]) * 1000000 + tonumber(time[2]), 0
end

-- The reply: integers, three for each limit of each subject, and texts that come after them.
local out, texts = {}, {}
