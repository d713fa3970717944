// Package model is the naive reference of every limit: exact rational numbers, one immutable value for each subject
// and limit, no cleverness. It is meant to be obviously right, and slow. The tests compare everything else with it.
//
// Where an answer has a definition, the model searches for the answer instead of computing it: RetryAfter is the
// smallest wait after which a copy of the subject admits the cost, ResetAfter the smallest after which its full quota
// is there. Both searches rest on one fact, that what is in use never grows while nobody comes.
//
// Times are microseconds of the Unix epoch.
//
// # Reading the source
//
// subject.go has the operations and the searches, one file for each algorithm says what is in use and when, change.go
// carries consumption from one limit to another, limiter.go puts several limits together.
package model
