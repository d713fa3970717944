// Command weir limits rates: a proxy that limits, and the tools around it. See docs/ for each subcommand.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // calendar limits name zones, which must be found on any machine

	"github.com/alecthomas/kong"
)

// cli lists the subcommands, each in a file of its own with a Run(*app) error method.
type cli struct {
	Proxy   proxyCmd   `cmd:"" help:"Limit the requests to an HTTP server, as a reverse proxy in front of it."`
	Demo    demoCmd    `cmd:"" help:"Try limits out in the browser, with nothing to set up."`
	Take    takeCmd    `cmd:"" help:"Take from a limit that is shared through Redis, in a shell script or a cron job."`
	Race    raceCmd    `cmd:"" help:"See on a Redis which ways to enforce a limit count right when many ask at once."`
	Version versionCmd `cmd:"" help:"Say which version this is."`

	ShowVersion kong.VersionFlag `name:"version" help:"Say which version this is."`
}

// app is what a subcommand has of the world.
type app struct {
	ctx    context.Context // ends when the process should: at SIGINT or SIGTERM
	stdout io.Writer       // for what was asked for
	stderr io.Writer       // for what is to be known besides
}

// The exit statuses.
const (
	statusFailed    = 1 // something went wrong while running
	statusUsage     = 2 // the command line is wrong
	statusRefused   = 1 // weir take: the limit refuses
	statusUndecided = 2 // weir take: nobody knows, because something went wrong
)

// exitError is an error with an exit status of its own.
type exitError interface {
	error
	status() int
}

// usageError says that the command line is wrong. Its text ends in what to write instead.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }
func (e usageError) status() int   { return statusUsage }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the command line args until it is done or ctx ends, and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	exit := -1
	parser, err := kong.New(&cli{},
		kong.Name("weir"),
		kong.Description("A rate limiter."),
		kong.Writers(stdout, stderr),
		kong.Vars{"version": versionText(), "store": defaultStore},
		kong.Exit(func(status int) { exit = status }),
	)
	if err != nil {
		return report(stderr, err)
	}
	parsed, err := parser.Parse(args)
	switch {
	case exit >= 0: // --help or --version has answered
		return exit
	case err != nil:
		return report(stderr, usageError{fmt.Errorf("%w; see weir %s--help", err, selected(err))})
	}
	return report(stderr, parsed.Run(&app{ctx: ctx, stdout: stdout, stderr: stderr}))
}

// selected returns the subcommand in which parsing failed with err, and a space, if it came to one.
func selected(err error) string {
	var parsing *kong.ParseError
	if errors.As(err, &parsing) && parsing.Context != nil && parsing.Context.Selected() != nil {
		return parsing.Context.Selected().Name + " "
	}
	return ""
}

// report prints err, if any, and returns the exit status that it means.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(stderr, "weir: %s\n", text)
	}
	if e := exitError(nil); errors.As(err, &e) {
		return e.status()
	}
	return statusFailed
}
