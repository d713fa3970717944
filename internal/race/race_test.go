package race

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirhq/weir/internal/redistest"
)

func TestRunCounts(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	for _, opts := range []Options{
		{Limit: 50, Workers: 64, Requests: 5000},
		{Limit: 1, Workers: 8, Requests: 100},
		{Limit: 50, Workers: 1, Requests: 100},
		{Limit: 100, Workers: 8, Requests: 100},
		{Limit: 1000, Workers: 8, Requests: 100},
		{Limit: 3, Workers: 200, Requests: 10},
	} {
		opts.Store = server.URL()
		var begun []string
		opts.Begin = func(title string) { begun = append(begun, title) }
		r, err := Run(t.Context(), opts)
		if err != nil {
			t.Fatalf("Run(%+v): %v", opts, err)
		}
		var ids, titles []string
		for _, w := range r.Ways {
			ids, titles = append(ids, w.Way), append(titles, w.Title)
			checkCounts(t, opts, w)
		}
		if want := []string{wayUnsafe, wayWatch, wayRetry, wayScript}; !slices.Equal(ids, want) || !slices.Equal(titles, begun) {
			t.Errorf("Run(%+v): ways %q, begun %q; want %q", opts, ids, begun, want)
		}
	}
	holdsNoKey(t, server)
}

// checkCounts fails the test where w contradicts itself or what its way promises.
func checkCounts(t *testing.T, opts Options, w Result) {
	t.Helper()
	room := min(opts.Limit, opts.Requests)
	for _, c := range []struct {
		wrong bool
		what  string
	}{
		{w.Errors != 0 || w.FirstError != "", "has errors"},
		{w.Admitted+w.Refused+w.Errors != opts.Requests, "does not add up to the requests"},
		{w.OverLimit != max(0, w.Admitted-opts.Limit), "is over the limit by another number"},
		{w.WronglyRefused > w.Refused, "has more wrong refusals than refusals"},
		{w.OverLimit >= opts.Workers, "is over the limit by a worker's second request"},
		{w.Way != wayUnsafe && w.OverLimit > 0, "is over the limit"},
		{w.Way != wayWatch && w.WronglyRefused > 0, "refuses wrongly"},
		{w.Way != wayWatch && w.Admitted < room, "admits too few"},
		{w.sound() && w.Admitted != room, "does not admit exactly what may pass"},
		{w.Way != wayRetry && w.Retries > 0, "retries"},
		{opts.Workers == 1 && (w.Admitted != room || w.Retries > 0), "races alone"},
		{w.Admitted < room && w.WronglyRefused != w.Refused, "admits too few, and yet refused rightly"},
		{w.LatencyP50 <= 0 || w.LatencyP99 < w.LatencyP50 || w.Elapsed < w.LatencyP50 || w.RequestsPerSecond <= 0, "has times that cannot be"},
		{w.sound() && w.Verdict != Right || !w.sound() && w.Verdict == Right, "has another verdict"},
		{(w.Verdict == Wrong) != (w.OverLimit+w.WronglyRefused > 0), "has a verdict against its counts"},
	} {
		if c.wrong {
			t.Errorf("limit %d, workers %d, requests %d: %s: %+v", opts.Limit, opts.Workers, opts.Requests, c.what, w)
		}
	}
}

// TestRunShowsTheFaults: with the defaults each fault is there to be seen. One run can miss one, when the machine is
// busy and lets a worker run ahead of the others.
func TestRunShowsTheFaults(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	const runs = 10
	over, refused, retries := 0, 0, 0
	for range runs {
		r, err := Run(t.Context(), defaults(server.URL()))
		if err != nil {
			t.Fatal(err)
		}
		over += find(t, r, wayUnsafe).OverLimit
		refused += find(t, r, wayWatch).WronglyRefused
		retries += find(t, r, wayRetry).Retries
		if over > 0 && refused > 0 && retries > 0 {
			return
		}
	}
	t.Errorf("in %d runs with the defaults %d got in over the limit, %d were wrongly refused, %d retried; want some of each", runs, over, refused, retries)
}

func TestRunInterrupted(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	opts := defaults(server.URL())
	opts.Requests = MaxRequests
	watched := make(chan struct{})
	opts.Begin = func(string) { go stopWhenContended(server, "weir:race:*:unsafe", stop, watched) }
	r, err := Run(ctx, opts)
	<-watched
	if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "GET, then INCR") || r != nil {
		t.Errorf("Run = %v, %v; want nil, and an error that it was interrupted during GET, then INCR", r, err)
	}
	holdsNoKey(t, server)
}

func TestEachWayCanBeInterrupted(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	client := connected(t, server, 8)
	for _, w := range ways(client, 50) {
		ctx, stop := context.WithCancel(t.Context())
		watched := make(chan struct{})
		go stopWhenContended(server, w.id, stop, watched)
		_, err := compete(ctx, client, w.id, w, Options{Limit: 50, Workers: 8, Requests: MaxRequests})
		<-watched
		if !errors.Is(err, ErrInterrupted) {
			t.Errorf("%s: compete: %v, want ErrInterrupted", w.id, err)
		}
		holdsNoKey(t, server)
	}
}

// stopWhenContended calls stop once a key like pattern is there, and then closes done.
func stopWhenContended(server *redistest.Server, pattern string, stop func(), done chan<- struct{}) {
	defer close(done)
	defer stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if keys, err := server.Do("KEYS", pattern); err != nil || len(keys.([]any)) > 0 {
			return
		}
	}
}

func TestRunBeforeItBegins(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if r, err := Run(ctx, defaults(server.URL())); !errors.Is(err, ErrInterrupted) {
		t.Errorf("Run = %v, %v; want ErrInterrupted", r, err)
	}
}

// TestRunWhenRedisDies: it does not wait for millions of requests to fail.
func TestRunWhenRedisDies(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	opts := defaults(server.URL())
	opts.Requests = MaxRequests
	killed := make(chan struct{})
	opts.Begin = func(title string) {
		if title == "GET, then INCR" {
			go stopWhenContended(server, "weir:race:*:unsafe", func() { server.Kill() }, killed)
		}
	}
	r, err := Run(t.Context(), opts)
	<-killed
	if err == nil || !strings.Contains(err.Error(), "3 requests of a worker failed in a row") || !strings.Contains(err.Error(), "24 hours") {
		t.Errorf("Run = %v, %v; want an error that names the failed requests and the key that may be left", r, err)
	}
}

func TestFailedRequestsAreCounted(t *testing.T) {
	server := redistest.Start(t, redistest.Options{})
	client := connected(t, server, 4)
	broken := errors.New("broken on purpose")
	w := ways(client, 50)[3]
	sound, calls := w.allow, new(atomic.Int64)
	w.allow = func(ctx context.Context, key string) (bool, error) {
		if n := calls.Add(1); n == 10 || n == 100 {
			return false, broken
		}
		return sound(ctx, key)
	}
	result, err := compete(t.Context(), client, "key", w, Options{Limit: 50, Workers: 4, Requests: 200})
	if err != nil {
		t.Fatal(err)
	}
	if result.Errors != 2 || result.Admitted != 50 || result.Admitted+result.Refused+result.Errors != 200 || result.WronglyRefused != 0 || result.FirstError != broken.Error() {
		t.Errorf("with two requests broken: %+v", result)
	}
}

func TestOptionErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Limit = 0 }, "race: Limit is 0; use 1 or more, such as 50"},
		{func(o *Options) { o.Workers = 0 }, "race: Workers is 0; use 1 to 1000, such as 64"},
		{func(o *Options) { o.Workers = 1001 }, "race: Workers is 1001; use 1 to 1000, such as 64"},
		{func(o *Options) { o.Requests = 0 }, "race: Requests is 0; use 1 to 10000000, such as 5000"},
		{func(o *Options) { o.Requests = 10_000_001 }, "race: Requests is 10000001; use 1 to 10000000, such as 5000"},
		{func(o *Options) { o.Store = "" }, `race: Store is "", which does not do: invalid URL scheme: ; give a URL such as redis://localhost:6379/0`},
		{func(o *Options) { o.Store = "http://u:secret@h" }, `race: Store is "http://u:xxxxx@h", which does not do: invalid URL scheme: http; give a URL such as redis://localhost:6379/0`},
		{func(o *Options) { o.Store = "redis://u:sec ret@h:x" }, "race: Store is no URL; give a URL such as redis://localhost:6379/0"},
	} {
		opts := defaults("redis://localhost:1/0")
		c.change(&opts)
		_, err := Run(t.Context(), opts)
		if bad := (*OptionError)(nil); !errors.As(err, &bad) || err.Error() != c.want {
			t.Errorf("Run: %v\nwant %s", err, c.want)
		}
	}
}
