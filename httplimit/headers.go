package httplimit

import "github.com/weirhq/weir/httplimit/internal/fields"

// Headers chooses the fields that clients are told their limits with. Join several with |, where their names do not
// collide. The zero value is HeadersDraft11.
//
// Numbers are of the instant of the decision, seconds are rounded up. Remaining is never a promise.
type Headers uint8

const (
	// HeadersDraft11 is the IETF shape of drafts 08 to 11: RateLimit: "default";r=50;t=30 and RateLimit-Policy:
	// "default";q=100;w=60, with a member for each limit. Two middlewares on one request append their members. The
	// time t is until the full quota is back; on a refusal until the retry, so that it is never beyond Retry-After.
	HeadersDraft11 = Headers(fields.Draft11)
	// HeadersDraft7 is RateLimit: limit=100, remaining=50, reset=30 and RateLimit-Policy: 100;w=60, for the limit with
	// the least remaining, or the one that refuses. Not with HeadersDraft11, whose names it has.
	HeadersDraft7 = Headers(fields.Draft7)
	// HeadersDraft6 is RateLimit-Limit, -Remaining, -Reset (seconds from now) and -Policy, for one limit as in draft 7.
	// Not with HeadersDraft11, whose RateLimit-Policy it has.
	HeadersDraft6 = Headers(fields.Draft6)
	// HeadersXEpoch is X-RateLimit-Limit, -Remaining and -Reset, for one limit as in draft 7. Reset is a Unix time.
	HeadersXEpoch = Headers(fields.XEpoch)
	// HeadersXDelta is HeadersXEpoch with a Reset in seconds from now. One of the two.
	HeadersXDelta = Headers(fields.XDelta)
	// HeadersNone tells nothing but Retry-After. Alone.
	HeadersNone = Headers(fields.None)
)

func (s Headers) validate(f *findings) {
	both := func(a, b Headers) bool { return s&a != 0 && s&b != 0 }
	switch {
	case fields.Mode(s) > fields.Known:
		f.add(CodeBadHeaders, "Headers", "has unknown bits", "join the constants of httplimit.Headers with |")
	case s&HeadersNone != 0 && s != HeadersNone:
		f.add(CodeBadHeaders, "Headers", "joins HeadersNone with others", "use it alone")
	case both(HeadersDraft11, HeadersDraft7|HeadersDraft6):
		f.add(CodeBadHeaders, "Headers", "joins HeadersDraft11 with draft 6 or 7, which write RateLimit-Policy in another shape", "choose one of them")
	case both(HeadersXEpoch, HeadersXDelta):
		f.add(CodeBadHeaders, "Headers", "joins HeadersXEpoch and HeadersXDelta, which give X-RateLimit-Reset two meanings", "choose one of them")
	}
}
