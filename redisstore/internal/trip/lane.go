package trip

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/weirhq/weir"
)

// The bounds of a batch: how long it keeps Redis busy is that of about as many single decisions, together well below a
// millisecond on ordinary machines.
const (
	maxSubjects = 128 // operations in one script call
	maxStates   = 384 // limits of all of them
)

// Flights of one lane: two, so that one is on its way while Redis works on the other; and how many more of which the
// replies are overdue.
const (
	maxFlights = 2
	maxLost    = 8
)

// lane is a queue of calls that may travel together. A call finds a flight free and leaves at once, or waits until one
// comes back and takes all that have gathered: nobody waits for a batch to fill. On a cluster each hash tag has a lane.
//
// A flight has a goroutine of its own, but for that of a call which finds nobody waiting: its caller makes the trip, which saves
// a lone caller the change of goroutines, a good part of the time that a trip takes.
type lane struct {
	engine *Engine

	mu      sync.Mutex
	waiting []*call
	air     []*flight // with calls on board
	flying  int       // flights under way, without those that are lost
	lost    int
	closed  bool
	timer   *time.Timer // for the deadlines of all calls, armed while there are any
	armed   bool

	breaker breaker
}

// add queues c, or returns a flight with c on board that the caller has to make, by lead. It is an error, and c not
// held, when the lane is full or closed.
func (l *lane) add(c *call, mayLead bool) (*flight, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := l.flying < maxFlights
	switch {
	case l.closed:
		return nil, ErrClosed
	case len(l.waiting) >= l.engine.settings.MaxWaiting:
		return nil, fmt.Errorf("%w: %d operations wait already", ErrOutage, l.engine.settings.MaxWaiting)
	case free && mayLead && len(l.waiting) == 0:
		f := l.launch()
		f.calls = append(f.calls, c)
		l.takeOff(f)
		return f, nil
	}
	l.waiting = append(l.waiting, c)
	if !l.armed {
		l.arm(c.deadline)
	}
	if free {
		go l.fly(l.launch())
	}
	return nil, nil
}

// launch returns a flight that counts as under way. l.mu must be held.
func (l *lane) launch() *flight {
	l.flying++
	l.engine.flights.Add(1)
	f := l.engine.idle.take()
	f.lane = l
	return f
}

// fly carries batches until none waits.
func (l *lane) fly(f *flight) {
	for l.board(f) {
		f.run()
		l.land(f)
		runtime.Gosched()
	}
	l.engine.idle.Put(f)
	l.engine.flights.Done()
}

// lead makes one trip with f. If calls have come meanwhile, f goes on without the caller.
func (l *lane) lead(f *flight) {
	f.run()
	l.land(f)
	if l.board(f) {
		go func() {
			f.run()
			l.land(f)
			l.fly(f)
		}()
		return
	}
	l.engine.idle.Put(f)
	l.engine.flights.Done()
}

// board fills f with the calls that wait longest. It is false, and the flight over, when there are none, or when f was
// given up as lost.
func (l *lane) board(f *flight) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.lost {
		f.lost = false
		l.lost--
		return false
	}
	taken, states, now := 0, 0, l.engine.now()
	for _, c := range l.waiting {
		if c.deadline <= now {
			c.decide(weir.Results{}, l.engine.overdue)
		}
		if !c.isPending() {
			c.release()
			taken++
			continue
		}
		n := c.Scope.Limits()
		if len(f.calls) == maxSubjects || len(f.calls) > 0 && states+n > maxStates {
			break
		}
		f.calls = append(f.calls, c)
		states += n
		taken++
	}
	l.waiting = slices.Delete(l.waiting, 0, taken)
	if len(f.calls) == 0 {
		l.flying--
		return false
	}
	l.takeOff(f)
	return true
}

// takeOff puts f among the flights that have calls on board. l.mu must be held.
func (l *lane) takeOff(f *flight) {
	f.began = l.engine.now()
	l.air = append(l.air, f)
}

// land takes f's calls off board, decides those that have a result and queues the others again, before all who wait.
func (l *lane) land(f *flight) {
	l.mu.Lock()
	if i := slices.Index(l.air, f); i >= 0 {
		l.air = slices.Delete(l.air, i, i+1)
	}
	requeue := !l.closed && !f.lost // a lost flight's calls are decided, and it will not come for them
	if requeue {
		l.waiting = slices.Insert(l.waiting, 0, f.again...)
	}
	l.mu.Unlock()
	for i, c := range f.order {
		if v := &f.verdicts[i]; !v.again || !requeue {
			c.decide(v.results, v.err)
			c.release()
		}
	}
	f.clear()
}

// arm sets the timer to the deadline, nanoseconds since the engine was made. l.mu must be held.
func (l *lane) arm(deadline int64) {
	l.armed = true
	wait := time.Duration(deadline - l.engine.now())
	if l.timer == nil {
		l.timer = time.AfterFunc(wait, l.expire)
		return
	}
	l.timer.Reset(wait)
}

// expire decides the calls whose deadline has come. It runs when the oldest call's may have: one timer does for all.
func (l *lane) expire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = false
	now := l.engine.now()
	oldest := int64(0)
	late := func(c *call) bool {
		switch {
		case !c.isPending():
			return true
		case c.deadline <= now:
			c.decide(weir.Results{}, l.engine.overdue)
			return true
		case oldest == 0 || c.deadline < oldest:
			oldest = c.deadline
		}
		return false
	}
	kept := l.waiting[:0]
	for _, c := range l.waiting {
		if late(c) {
			c.release()
		} else {
			kept = append(kept, c)
		}
	}
	clear(l.waiting[len(kept):])
	l.waiting = kept
	l.giveUp(late)
	if oldest != 0 && !l.closed {
		l.arm(oldest)
	}
	for range min(len(l.waiting), maxFlights-l.flying) {
		go l.fly(l.launch())
	}
}

// giveUp marks the flights that nobody waits for any more as lost, so that others can take their place, as long as
// there are not too many of them. Their runner has not answered when it should have. l.mu must be held.
func (l *lane) giveUp(late func(*call) bool) {
	for i := len(l.air) - 1; i >= 0; i-- {
		f, all := l.air[i], true
		for _, c := range f.calls {
			all = late(c) && all
		}
		if all && l.lost < maxLost {
			f.lost = true
			l.lost++
			l.flying--
			l.air = slices.Delete(l.air, i, i+1)
			l.breaker.failed(l.engine.overdue, f.began)
		}
	}
}

// close refuses calls from now on and ends those that wait, and those on their way: what Redis did with them nobody
// will know.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.timer != nil {
		l.timer.Stop()
	}
	for _, c := range l.waiting {
		c.decide(weir.Results{}, ErrClosed)
		c.release()
	}
	l.waiting = nil
	for _, f := range l.air {
		for _, c := range f.calls {
			c.decide(weir.Results{}, ErrClosed)
		}
	}
}
