package race

import "fmt"

// The bounds of [Options].
const (
	MaxWorkers  = 1000
	MaxRequests = 10_000_000
)

// Options say what the ways compete in. Every field but Begin is required.
type Options struct {
	// Store is the URL of the Redis, such as redis://localhost:6379/0.
	Store string
	// Limit is how many requests may be admitted in all, at least 1. Only with more Requests than Limit is there
	// something to refuse.
	Limit int
	// Workers is how many ask at once, each over a connection of its own: 1 to [MaxWorkers].
	Workers int
	// Requests is how many requests they make together, with each way: 1 to [MaxRequests].
	Requests int
	// Begin, if any, is called with the title of each way before it starts.
	Begin func(title string)
}

// validate checks what open does not.
func (o *Options) validate() error {
	switch {
	case o.Limit < 1:
		return &OptionError{"Limit", fmt.Sprintf("is %d", o.Limit), "use 1 or more, such as 50"}
	case o.Workers < 1 || o.Workers > MaxWorkers:
		return &OptionError{"Workers", fmt.Sprintf("is %d", o.Workers), fmt.Sprintf("use 1 to %d, such as 64", MaxWorkers)}
	case o.Requests < 1 || o.Requests > MaxRequests:
		return &OptionError{"Requests", fmt.Sprintf("is %d", o.Requests), fmt.Sprintf("use 1 to %d, such as 5000", MaxRequests)}
	}
	return nil
}
