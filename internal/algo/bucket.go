package algo

// Bucket is the smooth token bucket, and the leaky bucket: the same arithmetic seen from below.
//
// refill tokens come back per unit microseconds, reduced by their gcd. One token is unit units, and refill units
// come back per microsecond, so that every quantity is a whole number of units.
//
// State: A units in use (0 is full, more than capacity x unit is debt), B the time of A.
type Bucket struct {
	capacity int64
	refill   int64 // units per microsecond
	unit     int64 // units per token
	full     int64 // capacity x unit
	maxUsed  int64 // where debt stops
	fullTime int64 // microseconds from empty to full
}

func newBucket(capacity, refill, unit int64) *Bucket {
	b := &Bucket{capacity: capacity, refill: refill, unit: unit, full: capacity * unit}
	b.maxUsed = mulCapped(horizon, refill, maxExact)
	b.fullTime = ceilDiv(b.full, refill)
	return b
}

func (b *Bucket) Quota() int64 { return b.capacity }

func (b *Bucket) Settle(s State, now int64) State {
	if s.A == 0 {
		return State{}
	}
	if now <= s.B {
		if s.B-now > b.fullTime {
			return State{}
		}
		return s
	}
	s.A -= mulCapped(now-s.B, b.refill, s.A)
	s.B = now
	if s.A == 0 {
		return State{}
	}
	return s
}

// Take is settle, wait, charge and look in one, without the detour over [State]: the path that matters most. used and
// at are the numbers A and B of the state, which comes back settled.
func (b *Bucket) Take(used, at, now, cost int64) (usedThen, atThen int64, o Outcome) {
	ahead := int64(0)
	switch {
	case at <= now || used == 0:
		if used > 0 {
			used -= mulCapped(now-at, b.refill, used)
		}
		at = now
	case at-now > b.fullTime:
		used, at = 0, now
	default:
		ahead = at - now
	}
	if cost > b.capacity {
		o.Wait = Never
	} else if after := used + cost*b.unit; after <= b.full || cost == 0 {
		used = after
	} else {
		o.Wait = b.timeOf(after-b.full) + ahead
	}
	if used == 0 {
		o.Remaining = b.capacity
		return 0, 0, o
	}
	o.Remaining = int64(uint64(max(0, b.full-used)) / uint64(b.unit))
	o.Reset = b.timeOf(used) + ahead
	return used, at, o
}

// timeOf returns the microseconds in which units come back, rounded up. Most limits have one unit per microsecond.
func (b *Bucket) timeOf(units int64) int64 {
	if b.refill == 1 {
		return units
	}
	return int64((uint64(units) + uint64(b.refill) - 1) / uint64(b.refill))
}

func (b *Bucket) Used(s State, _ int64) int64 { return ceilDiv(s.A, b.unit) }

func (b *Bucket) Wait(s State, now, cost int64) int64 {
	short := s.A + cost*b.unit - b.full
	if short <= 0 {
		return 0
	}
	return ceilDiv(short, b.refill) + max(0, s.B-now)
}

func (b *Bucket) Charge(s State, now, n int64) State {
	s.A = addCapped(s.A, mulCapped(n, b.unit, maxExact), b.maxUsed)
	s.B = max(s.B, now)
	return s
}

func (b *Bucket) Refund(s State, _, n int64) State {
	s.A = max(0, s.A-mulCapped(n, b.unit, maxExact))
	if s.A == 0 {
		return State{}
	}
	return s
}

func (b *Bucket) carry(from Algorithm, s State, now int64) State {
	old := from.(*Bucket)
	debt := max(0, s.A-old.full)
	used := mulDivCeil(s.A, b.unit, old.unit, b.maxUsed)
	most := addCapped(b.full, mulDivCeil(debt, b.unit, old.unit, b.maxUsed), b.maxUsed)
	return State{A: min(used, most), B: min(s.B, now+b.fullTime)}
}
