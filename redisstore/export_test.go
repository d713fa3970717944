package redisstore

// Virtual is for the tests of the adapters, which cannot be in this package.
var Virtual = virtual
