// Package authority makes certificates for one server and its clients, signed by an authority of their own.
package authority
