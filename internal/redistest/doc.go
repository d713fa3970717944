// Package redistest starts real Redis servers for tests, on free loopback ports, and does to them what production does:
// kill, pause and restart them, fail them over, move slots between them, and make the line to them slow or dead.
//
//   - [Start] is one server, [StartSentinel] a master with replicas and sentinels, [StartCluster] a cluster. They end
//     with the test. [Launch], [LaunchSentinel] and [LaunchCluster] are the same for a TestMain, which ends them itself.
//   - [Proxy] is a line to a server that can be slow, hang or be cut.
//
// The program is redis-server, or what the environment variable WEIR_REDIS_SERVER names: Redis 6.2 and later and
// Valkey will do. Without it a test is skipped, and fails where CI is set. On Linux no server outlives the test process,
// however that ends.
//
// Whatever is waited for is polled and given up after [Patience]. The error of a server that does not come up ends with
// its log, and a test that failed shows the ends of the logs of its servers.
package redistest
