// Package redisrivals puts weir and other limiters that share their state through Redis behind one method, and has the
// workloads under which they are compared.
//
// Every rival is given the same limits on the same keys in the same server, over connections with the same bounds.
// [Rival.Check] proves beforehand that the limit limits, and [Workload.CheckKeys] afterwards that the server held all
// keys: a limiter that decides without Redis, or on a table that has expired, is fast.
package redisrivals
