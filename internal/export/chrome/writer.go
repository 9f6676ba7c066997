package chrome

import (
	"io"
	"math"
	"strconv"

	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/trace"
)

// writer is the sink that appends events. It keeps each name as it was first
// written, so that an event allocates nothing.
type writer struct {
	rows.Output
	events  int64
	pid     uint32
	process string // ,"pid":1,"tid":
	text    func(uint16) string
	names   [128][][]byte // by kind and name id: "name" and "cat"
	profile profile
	notes   string // of the samples
}

func newWriter(w io.Writer, t *trace.Trace) *writer {
	// A process without a number is the idle one to some viewers.
	pid := max(t.Header().PID, 1)
	return &writer{
		Output: rows.NewOutput(w, "JSON"), pid: pid, text: t.Name,
		process: `,"pid":` + strconv.FormatUint(uint64(pid), 10) + `,"tid":`,
	}
}

func (s *writer) size() Size { return Size{Events: s.events, Bytes: s.Bytes} }

// begin begins an event of a phase, end ends it. What comes first is what every
// event has.
func (s *writer) begin(phase string, tid uint32) []byte {
	b := s.B
	if s.events > 0 {
		b = append(b, ',')
	}
	s.events++
	b = append(b, "\n{\"ph\":\""...)
	b = append(b, phase...)
	b = append(b, '"')
	b = append(b, s.process...)
	return strconv.AppendUint(b, uint64(tid), 10)
}

func (s *writer) end(b []byte) {
	s.B = append(b, '}')
	s.Spill()
}

// appendMicros appends ns as microseconds with three decimals.
func appendMicros(b []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		b = append(b, '-')
		u = -u
	}
	b = strconv.AppendUint(b, u/1000, 10)
	r := u % 1000
	return append(b, '.', '0'+byte(r/100), '0'+byte(r/10%10), '0'+byte(r%10))
}

// grid is how many places a microsecond has for ts, and for the ends that readers
// compute as ts + dur: a place is a quarter of a nanosecond, so that who rounds has
// the nanosecond, of dur too.
const grid = 4096

// micros returns the place next to ns, in microseconds. It is a double without a
// rounding error, up to 2^53 places (25 days), and so are the sums and differences of
// such: readers may compute what they like, and what is nested, or touches, stays so.
// With three decimals 1779692.866 + 2.24 is more than 1779693.006 + 2.1.
func micros(ns int64) float64 {
	if ns < 0 {
		return -micros(-max(ns, -math.MaxInt64))
	}
	return (float64(ns/125)*(grid/8) + float64((ns%125*(grid/8)+62)/125)) / grid
}

func (s *writer) appendTime(b []byte, ns int64) []byte {
	return strconv.AppendFloat(append(b, `,"ts":`...), micros(ns), 'f', -1, 64)
}

// appendSpan appends from when to when an event goes.
func (s *writer) appendSpan(b []byte, from, to int64) []byte {
	b = s.appendTime(b, from)
	return strconv.AppendFloat(append(b, `,"dur":`...), micros(to)-micros(from), 'f', -1, 64)
}
