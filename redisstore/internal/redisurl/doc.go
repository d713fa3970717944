// Package redisurl reads URLs that name a Redis: one server, a master that sentinels watch, or a cluster.
//
//	redis://[user:password@]host[:6379][/database]
//	unix://[user:password@]/path/to/socket[?db=database]
//	redis-sentinel://[user:password@]host[:26379][,host...]/master[/database][?sentinel_user=...&sentinel_password=...]
//	redis-cluster://[user:password@]host[:6379][,host...]
//
// The schemes rediss, rediss-sentinel and rediss-cluster, or the parameter tls=true, turn TLS on, for sentinels, too.
// Its parameters are tls_ca (a file with the certificates of those who sign the server's, instead of the system's),
// tls_cert and tls_key (files with a certificate to show, and its key), all in PEM, and tls_server_name (the name that
// the server's certificate must have, instead of the host). The database may also be the parameter db.
//
// What has a meaning in URLs is percent-encoded in users and passwords: % as %25, / as %2F, ? as %3F, # as %23. An @
// behind the hosts is always %40: a raw one there is what a password with a slash looks like.
//
// No error and no [Target.String] shows a password, or what may be one.
package redisurl
