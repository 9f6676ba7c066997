package gotrace

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/trace"
)

// FactJoined is the fact that a trace has to which a Go execution trace was joined.
const FactJoined = "joined"

// FactMade is the fact that a trace has which was made of nothing but a Go execution trace: of
// which.
const FactMade = "made_of"

// FactScopes is the fact that such a trace has no scopes, which is its value "none": the
// program has no regions and no tasks.
const FactScopes = "scopes"

// Streams lists the streams of t by the order in which they were recorded. That is
// the one of their numbers, but for those that were joined.
func Streams(t *trace.Trace) []trace.GoTrace {
	all := t.GoTraces()
	if len(all) < 2 || t.Lookup(FactJoined) == "" {
		return all
	}
	begins := map[uint32]int64{}
	for i := range all {
		g := &all[i]
		begins[g.Stream] = math.MaxInt64 // nothing of it can be read: reading it will tell why
		stacks := newStacks()
		stacks.off = true
		c := clockOf(t)
		s, err := open(g.Reader(), stacks, &c, 1)
		var it item
		if err == nil && s.next(&it) == nil {
			begins[g.Stream] = it.time
		}
		s.close()
	}
	slices.SortStableFunc(all, func(a, b trace.GoTrace) int { return cmp.Compare(begins[a.Stream], begins[b.Stream]) })
	return all
}

// FactUnread is the fact of such a trace that says what of the Go execution trace could not be read, and
// what is not there, as its bytes show; there is none where it is whole.
const FactUnread = "unread"

// FactEnded is the fact that says why the recorder took no more of Go's execution trace before it stopped.
const FactEnded = "gotrace_ended"

// Lost says that a part of Go's execution trace found no room in t; it is empty otherwise.
func Lost(t *trace.Trace) string {
	if !strings.HasSuffix(t.Lookup(FactEnded), "there was no room for it in the trace") {
		return ""
	}
	return "a part of Go's execution trace was lost: there was no room for it in the trace"
}

// HeaderSize is how many bytes of a Go execution trace CheckHeader looks at.
const HeaderSize = gowire.HeaderSize

// CheckHeader reports whether what begins with head is a Go execution trace that Read
// could read. Its errors are sentences about it.
func CheckHeader(head []byte) error { return checkVersion(head) }

// ReadStream is Read for one of t's Go execution traces, as if it were the only one.
// What Info tells is of it alone: where it is another process's, and where it is of
// another time than t, nothing was delivered. Its error is ErrNone where it is not there.
func ReadStream(t *trace.Trace, stream uint32, h Handler) (*Info, error) {
	for _, g := range t.GoTraces() {
		if g.Stream == stream {
			return read(t, []trace.GoTrace{g}, h)
		}
	}
	return nil, ErrNone
}
