package redisurl

// Error says which part of a URL is refused, why, and what to write instead. It never shows a password.
type Error struct {
	Part    string // such as "port" or "tls_ca"
	Problem string // what is wrong with it
	Remedy  string // what to write instead
	Err     error  // what the system said of a file, or nil
}

// Error implements the error interface.
func (e *Error) Error() string {
	return "redis URL: " + e.Part + " " + e.Problem + "; " + e.Remedy
}

// Unwrap returns what the system said of a file.
func (e *Error) Unwrap() error { return e.Err }
