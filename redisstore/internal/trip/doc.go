// Package trip brings requests to Redis and their results back: together where they are under way at the same time, in
// time or not at all, and not at all while Redis does not answer.
//
// # Reading the source
//
// [Engine] has one lane, or one for each hash tag. A lane is a queue of calls; flights carry them off in
// batches; a breaker watches over each lane. fault.go says what the errors of Redis mean. [Single] is the way for
// scripts that do not travel together.
package trip
