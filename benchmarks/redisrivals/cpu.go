package redisrivals

import (
	"syscall"
	"time"
)

// ownCPU returns the processor time that this process has used.
func ownCPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // who is right about RUSAGE_SELF cannot see it
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
