// Package siphash is the keyed hash by which the in-process store knows its subjects.
package siphash
