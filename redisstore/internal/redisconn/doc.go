// Package redisconn runs scripts on Redis with the client rueidis: on a target that it connects to by itself ([Open]), or
// on a client that somebody else owns ([Wrap]).
//
// rueidis alone does not keep the promises that a rate limiter needs; this package adds them:
//
//   - A call ends with its context in every state: while nothing is connected, while a name is looked up, while a server
//     accepts connections and says nothing. rueidis connects within the call that needs a connection, and what connects
//     at the same time waits for it, whatever its own context says. Here no call connects. Where one would have to,
//     rueidis is refused (see dial), nothing is sent, and the call waits for an attempt that runs on its own, with its
//     own timeout: so a handshake that takes longer than a call may is not begun again and again in vain.
//   - No call is sent twice whose reply was lost. rueidis repeats only what is marked for it, and scripts are not. What
//     this package repeats has not been sent: what found no connection, and what found, before its first byte, that the
//     server had closed the connection.
//   - No call ends with another one's context. On connections of their own ([redisurl.Standalone], [redisurl.Sentinel])
//     calls do not meet; on shared ones ([redisurl.Cluster]) every call is queued, also the first, which would otherwise
//     take the connection down with it.
//
// # Reading the source
//
// conn.go is the runner, generation.go one client of rueidis and its connections, attempt.go how connecting is shared,
// dial.go what rueidis gets instead of the network, options.go how it is set up, sentinel.go what it does too slowly by
// itself, reply.go and errors.go what comes back; wrapped.go is the runner on somebody else's client.
package redisconn
