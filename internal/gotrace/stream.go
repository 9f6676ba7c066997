package gotrace

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/trace"
)

// FactJoined is the fact of a trace that a Go execution trace was joined to it.
const FactJoined = "joined"

// FactMade is the fact of a trace that was made from only a Go execution trace. Its value names
// that.
const FactMade = "made_of"

// FactScopes is the fact that such a trace has no scopes, because the program has no regions and no
// tasks. Its value is "none".
const FactScopes = "scopes"

// Streams returns the streams of t in the order of recording. That is the order of their numbers,
// except for joined ones.
func Streams(t *trace.Trace) []trace.GoTrace {
	all := t.GoTraces()
	if len(all) < 2 || t.Lookup(FactJoined) == "" {
		return all
	}
	begins := map[uint32]int64{}
	for i := range all {
		g := &all[i]
		begins[g.Stream] = math.MaxInt64 // unreadable: reading it will report why
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

// FactUnread is the fact of such a trace that lists the parts of the Go execution trace that could
// not be read or are missing. A trace made from a complete one does not have it.
const FactUnread = "unread"

// FactEnded is the fact that holds why the recorder took no more of Go's execution trace before it
// stopped.
const FactEnded = "gotrace_ended"

// Lost returns a sentence if a part of Go's execution trace had no room in t, and "" otherwise.
func Lost(t *trace.Trace) string {
	if !strings.HasSuffix(t.Lookup(FactEnded), "there was no room for it in the trace") {
		return ""
	}
	return "a part of Go's execution trace was lost: there was no room for it in the trace"
}

// HeaderSize is the number of bytes of a Go execution trace that CheckHeader reads.
const HeaderSize = gowire.HeaderSize

// CheckHeader returns an error unless head begins a Go execution trace that Read can read. Its
// errors are sentences about it.
func CheckHeader(head []byte) error { return checkVersion(head) }

// ReadStream is Read for one of t's Go execution traces, as if it were the only one; Info covers
// that stream alone. Nothing is delivered if it is of another process or of another time than t.
// ReadStream returns ErrNone if there is no such stream.
func ReadStream(t *trace.Trace, stream uint32, h Handler) (*Info, error) {
	for _, g := range t.GoTraces() {
		if g.Stream == stream {
			return read(t, []trace.GoTrace{g}, h)
		}
	}
	return nil, ErrNone
}
