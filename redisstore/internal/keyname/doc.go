// Package keyname makes the names that subjects have in Redis:
//
//	<prefix>{<tag>}<length of name>.<length of key>:<name><key>
//	<prefix>{<tag>}#<hash>                                       when they are long, or hashing is asked for
//
// The lengths keep apart whatever bytes the parts hold; what is appended to a name, as for the lists of a log, is
// nobody's name. The tag is one of [Tags] numbers, chosen by a hash of name and key: the prefix holds no brace, so the
// tag is what a cluster looks at.
package keyname
