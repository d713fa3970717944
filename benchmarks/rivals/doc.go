// Package rivals puts weir and other in-process limiters behind one method, and has the workloads under which they
// are compared.
//
// Every rival is given the same limit, every cell makes the same decisions over the same keys in the same order, and
// [Rival.Check] proves beforehand that the keys are distinct and that the limit limits: a limiter that looks up the
// wrong key, or none, is fast.
package rivals
