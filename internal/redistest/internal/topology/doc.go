// Package topology reads what a cluster's nodes say about it, and finds the slots of keys.
package topology
