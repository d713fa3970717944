// Package report describes the machine of a measurement and keeps its table in a document.
package report
