package timeline

import (
	"iter"

	"github.com/scopeview/scopeview/internal/trace"
)

// span is from when to when a row has something. The spans lie together, apart
// from their rows. Of a million goroutines nearly all lie outside of what is looked at,
// and must not be touched.
type span struct {
	from, to int64
	open     int32 // so many scopes are open
}

func (s *span) reach(e *trace.Event) {
	s.from, s.to = min(s.from, e.Start), max(s.to, e.Start+e.Dur)
}

// within gives the rows that have a part in [from, to].
func (x *Index) within(from, to int64) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for i := range x.spans {
			if s := &x.spans[i]; s.from <= to && (s.to >= from || s.open > 0) && !yield(x.rows[i]) {
				return
			}
		}
	}
}
