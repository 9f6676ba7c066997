package csv

import (
	"io"
	"math"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// part has the rows of a part of the trace.
type part struct {
	b       []byte
	tracks  map[uint64]uint16 // last name of each goroutine's row
	until   int64             // ns: the part's end
	noBeats error             // error of reading heartbeats
	failed  error             // error of writing
}

// mostText is about the size of the text that a part keeps until its turn. An ordinary part
// has a third of it, but arguments' text can be many times as long as their records.
const mostText = 1 << 20

// partRows writes the parts of one goroutine.
type partRows struct {
	*rows
	t       *trace.Trace
	o       *Options
	choice  *analysis.Choice
	beats   []beatRow // beats of the part that are not written yet
	text    []byte    // rows of all beats of the part
	written int       // bytes of text that are written
}

// beatRow is the row of a heartbeat.
type beatRow struct {
	time int64
	end  int // offset in text
}

func newPartRows(t *trace.Trace, o *Options) *partRows {
	return &partRows{rows: newRows(t.Name, t.Breaks(), o.Raw), t: t, o: o, choice: o.Choice(t)}
}

// write writes the rows of a part. A heartbeat's row comes before the first event that is
// not earlier. Text beyond the limit is written to w, once it is the part's turn.
func (p *part) write(r *partRows, x *trace.Part, w io.Writer) {
	p.b, p.failed = p.b[:0], nil
	clear(p.tracks)
	var after int64
	after, p.until = x.Span()
	p.noBeats = r.takeBeats(after, p.until)
	all := r.choice.All()
	x.Events(func(e *trace.Event) bool {
		if len(r.beats) > 0 && r.beats[0].time <= e.Start {
			p.b = r.appendBeats(p.b, e.Start)
		}
		if all || r.choice.Keep(e) {
			p.b = r.appendEvent(p.b, e)
		}
		if r.o.States && e.Goid != 0 && e.Track != format.NameEmpty {
			p.tracks[e.Goid] = e.Track
		}
		if len(p.b) > r.o.most {
			if !x.Due() {
				return false
			}
			_, p.failed = w.Write(p.b)
			p.b = p.b[:0]
		}
		return p.failed == nil
	})
	p.b = r.appendBeats(p.b, math.MaxInt64)
}

// takeBeats makes the rows of the heartbeats after one moment, up to and including another.
func (r *partRows) takeBeats(after, until int64) error {
	r.beats, r.text, r.written = r.beats[:0], r.text[:0], 0
	if !r.choice.Nameless() {
		return nil
	}
	return r.t.EachBeatBetween(after, until, func(b *trace.Beat) bool {
		if b.Time >= r.o.From && (r.o.To == 0 || b.Time <= r.o.To) {
			r.text = r.appendBeat(r.text, b)
			r.beats = append(r.beats, beatRow{b.Time, len(r.text)})
		}
		return true
	})
}

// appendBeats appends the rows of the heartbeats up to now.
func (r *partRows) appendBeats(b []byte, now int64) []byte {
	for ; len(r.beats) > 0 && r.beats[0].time <= now; r.beats = r.beats[1:] {
		b = append(b, r.text[r.written:r.beats[0].end]...)
		r.written = r.beats[0].end
	}
	return b
}
