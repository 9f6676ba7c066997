package timeline

import (
	"iter"

	"github.com/scopeview/scopeview/internal/trace"
)

// span is the range of a row's times. The spans are stored together, apart from their rows:
// of a million goroutines nearly all are outside of the range in question, and must not be
// accessed.
type span struct {
	from, to int64
	open     int32 // number of open scopes
}

func (s *span) reach(e *trace.Event) {
	s.from, s.to = min(s.from, e.Start), max(s.to, e.Start+e.Dur)
}

// within yields the rows that touch [from, to].
func (x *Index) within(from, to int64) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for i := range x.spans {
			if s := &x.spans[i]; s.from <= to && (s.to >= from || s.open > 0) && !yield(x.rows[i]) {
				return
			}
		}
	}
}
