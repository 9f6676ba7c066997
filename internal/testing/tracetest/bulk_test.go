package tracetest

import (
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestBulk reads back what the benchmarks measure with: its chunks are full, it is
// no broken trace, and every second scope lies in the one before it.
func TestBulk(t *testing.T) {
	const perChunk = (format.ChunkSize - format.ChunkHeaderSize) / format.RecordSize
	for _, test := range []struct {
		args          bool
		scopes, inner int
	}{
		// One record of the first four chunks is the row's name, so that the last of
		// their scopes has none in it.
		{false, 8*perChunk - 4, 8*perChunk/2 - 4},
		{true, 8*(perChunk/3) - 4, 8*(perChunk/3)/2 - 4},
	} {
		tr := Open(t, Bulk(8, test.args))
		scopes, inner, args := 0, 0, 0
		rows := map[string]bool{}
		err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
			if e.Kind != format.KindTask {
				return true
			}
			scopes++
			inner += int(e.Depth)
			args += len(e.Args)
			rows[tr.Name(e.Track)] = true
			return true
		})
		if err != nil || len(tr.Problems()) > 0 {
			t.Errorf("%+v: %v, %v", test, err, tr.Problems())
		}
		wantArgs := 0
		if test.args {
			wantArgs = 4 * scopes
		}
		if scopes != test.scopes || inner != test.inner || args != wantArgs || len(rows) != 4 {
			t.Errorf("%+v: %d scopes, %d of them inner, %d slots of arguments, rows %v", test, scopes, inner, args, rows)
		}
	}
}

func TestOpenText(t *testing.T) {
	tr := OpenText(t, "header pid=42\nstate closed=1 tick=4000\nchunk blocks\nname 2 \"f\"\nchunk records\ntask \"f\" g=7 start=2000 stop=3000 cpu=0/unknown\n")
	n := 0
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool { n++; return tr.Name(e.Name) == "f" && e.Goid == 7 && e.Dur == 1000 }); err != nil || n != 1 || tr.Header().PID != 42 {
		t.Errorf("%d records of process %d, %v", n, tr.Header().PID, err)
	}
}
