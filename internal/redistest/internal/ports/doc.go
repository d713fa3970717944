// Package ports draws ports of the loopback interface for servers that come and go.
//
// They lie below those that the system gives to outgoing connections, which begin at 32768 on Linux and at 49152
// elsewhere: so a port stays free while its server is down. No port is drawn twice.
package ports
