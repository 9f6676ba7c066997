package chrome

import (
	"io"
	"math"
	"strconv"

	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/trace"
)

// writer is the sink that appends events. It caches each name's encoding, so that an event
// allocates nothing.
type writer struct {
	rows.Output
	events  int64
	pid     uint32
	process string // ,"pid":1,"tid":
	text    func(uint16) string
	names   [128][][]byte // by kind and name id: "name" and "cat"
	profile profile
	notes   string // on the samples
}

func newWriter(w io.Writer, t *trace.Trace) *writer {
	// Some viewers take a process without a number for the idle one.
	pid := max(t.Header().PID, 1)
	return &writer{
		Output: rows.NewOutput(w, "JSON"), pid: pid, text: t.Name,
		process: `,"pid":` + strconv.FormatUint(uint64(pid), 10) + `,"tid":`,
	}
}

func (s *writer) size() Size { return Size{Events: s.events, Bytes: s.Bytes} }

// begin begins an event with the fields that all events have; end ends it.
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

// grid is the number of steps per microsecond for ts, and for the ends that readers compute
// as ts + dur. A step is a quarter of a nanosecond, so that rounding gives the exact
// nanosecond, of dur too.
const grid = 4096

// micros returns the grid point nearest to ns, in microseconds. It is a double without a
// rounding error, up to 2^53 steps (25 days), and so are sums and differences of such:
// whatever readers compute, nested slices stay nested, and adjacent ones adjacent. With
// three decimals 1779692.866 + 2.24 is more than 1779693.006 + 2.1.
func micros(ns int64) float64 {
	if ns < 0 {
		return -micros(-max(ns, -math.MaxInt64))
	}
	return (float64(ns/125)*(grid/8) + float64((ns%125*(grid/8)+62)/125)) / grid
}

func (s *writer) appendTime(b []byte, ns int64) []byte {
	return strconv.AppendFloat(append(b, `,"ts":`...), micros(ns), 'f', -1, 64)
}

// appendSpan appends the begin and the duration of an event.
func (s *writer) appendSpan(b []byte, from, to int64) []byte {
	b = s.appendTime(b, from)
	return strconv.AppendFloat(append(b, `,"dur":`...), micros(to)-micros(from), 'f', -1, 64)
}
