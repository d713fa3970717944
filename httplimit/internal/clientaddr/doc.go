// Package clientaddr tells the address of a request's client from the connection and one header.
package clientaddr
