// Package process runs programs that end with this process, however that ends, where the system is Linux.
package process
