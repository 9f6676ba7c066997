//go:build linux

package victim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// Found has the counts of a victim's trace.
type Found struct {
	Issued      int64 // number of issued records, as counted by the victim
	Events      int64
	Mentioned   int64 // number of overwritten records that other records still mention
	Ended, Open int64 // of the scopes of Numbers
	Overwritten int64
	AllLost     int64                 // from chunk 0
	Lost        map[format.Loss]int64 // from the trace
	Gaps        []trace.Gap
	Holes       int64 // allocated places without a record
	Closed      bool
	Backing     format.Backing
}

func (f *Found) String() string {
	s := fmt.Sprintf("%d issued, %d recorded (%d open)", f.Issued, f.Events-f.Mentioned, f.Open)
	if f.Overwritten > 0 {
		s += fmt.Sprintf(", %d overwritten (%d still mentioned)", f.Overwritten, f.Mentioned)
	}
	total := int64(0)
	for why, n := range f.Lost {
		if n > 0 && why != format.LossEnd {
			s += fmt.Sprintf(", lost by %v %d", why, n)
			total += n
		}
	}
	if total == 0 {
		s += ", 0 lost"
	}
	if n := f.Lost[format.LossEnd]; n > 0 {
		s += fmt.Sprintf(", %d ends lost", n)
	}
	if more := f.AllLost - total; more > 0 {
		s += fmt.Sprintf(", %d more lost with the end of the trace", more)
	}
	return s + fmt.Sprintf(", %d holes", f.Holes)
}

// fate of a scope in the trace.
const (
	absent = iota
	open
	ended
)

// Check reads the victim's trace and compares it with the victim's counts. In every trace,
// each scope was begun, occurs once, and none that had ended is missing or open, except for
// those overwritten by a ring. If the victim ended normally, all records were also recorded
// or lost, the losses in the trace equal those of Stats, and no rule of the format is
// broken. A heap's trace of a killed victim may lack the newest records; if Stop could not
// write the end, the trace may be open and lack the gaps.
func (v *Victim) Check(t testing.TB, path string) *Found {
	t.Helper()
	tr, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	f := &Found{
		Issued:      int64(v.Begun() + v.sum(workAlso)),
		Lost:        tr.Lost(),
		Gaps:        tr.Gaps(),
		Overwritten: tr.State().Overwritten,
		AllLost:     tr.State().Lost,
		Closed:      tr.Closed(),
		Backing:     tr.Header().Backing,
	}
	v.scopes(t, tr, f)
	for _, p := range tr.Problems() {
		if strings.HasSuffix(p.Text, "never begun") {
			f.Holes += p.Count
		}
		if p.Damage() && !(v.partial(f) && strings.Contains(p.Text, "is cut off")) {
			t.Errorf("the trace is damaged at %d (%d times): %s", p.Offset, p.Count, p.Text)
		}
	}
	if v.Result.Path != "" {
		v.account(t, f)
		tracetest.Verify(t, path)
	} else if f.Closed {
		t.Error("the trace of a killed victim says that it was closed")
	}
	return f
}

// scopes compares the scopes by number.
func (v *Victim) scopes(t testing.TB, tr *trace.Trace, f *Found) {
	t.Helper()
	fates := make([][]uint8, v.Workers)
	for w := range fates {
		fates[w] = make([]uint8, v.BegunBy(w)+1)
	}
	wrong := 0
	err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		f.Events++
		if e.Overwritten {
			f.Mentioned++
		}
		if e.Kind != format.KindTask || tr.Name(e.Name) != Name || len(e.Args) == 0 && v.Ring > 0 {
			return true // a ring may have overwritten a begin before its end, with the arguments
		}
		if len(e.Args) != 2 || e.Args[0].Value >= uint64(v.Workers) {
			t.Errorf("a scope has the arguments %v", e.Args)
			return false
		}
		w, n := e.Args[0].Value, e.Args[1].Value
		switch {
		case n >= v.BegunBy(int(w)):
			t.Errorf("worker %d: scope %d was not begun, %d were", w, n, v.BegunBy(int(w)))
			wrong++
		case fates[w][n] != absent:
			t.Errorf("worker %d: scope %d is there twice", w, n)
			wrong++
		case e.Open:
			f.Open++
			fates[w][n] = open
		default:
			f.Ended++
			fates[w][n] = ended
		}
		return wrong < 10
	})
	if err != nil {
		t.Error(err)
	}
	if v.partial(f) {
		return
	}
	if v.unended(f) {
		return // recorded scopes were lost in the end; the totals are compared elsewhere
	}
	for w, fate := range fates {
		v.worker(t, w, fate, f)
	}
}

// partial reports whether the newest records may be missing: with a killed heap victim.
func (v *Victim) partial(f *Found) bool {
	return f.Backing == format.BackingHeap && v.Result.Path == ""
}

// unended reports whether the disk did not accept a heap's records at the end. Then only
// chunk 0 has the losses.
func (v *Victim) unended(f *Found) bool {
	return f.Backing == format.BackingHeap && v.Result.StopErr != ""
}

// worker compares a worker's scopes: their number, and the last one.
func (v *Victim) worker(t testing.TB, w int, fates []uint8, f *Found) {
	t.Helper()
	var n [3]uint64
	for _, x := range fates {
		n[x]++
	}
	lostEnds := uint64(f.Lost[format.LossEnd])
	if v.Result.Path == "" {
		lostEnds = max(lostEnds, uint64(v.Lost().Ends))
	}
	if n[open] > 1+lostEnds {
		t.Errorf("worker %d: %d scopes are open, at most one was, and %d ends found no place", w, n[open], lostEnds)
	}
	if n[open]+n[ended] > v.KeptBy(w)+1 {
		t.Errorf("worker %d: %d scopes are there, the recorder took %d", w, n[open]+n[ended], v.KeptBy(w))
	}
	if last := v.LastBy(w); last > 0 && lostEnds == 0 && fates[last-1] != ended && v.Ring == 0 {
		t.Errorf("worker %d: scope %d had ended and is not there, or open", w, last-1)
	}
	if v.Ring == 0 && n[ended]+lostEnds < v.KeptEndedBy(w) {
		t.Errorf("worker %d: %d scopes ended in the trace, %d had that the recorder took", w, n[ended], v.KeptEndedBy(w))
	}
}

// account compares the numbers of a victim that ended normally.
func (v *Victim) account(t testing.TB, f *Found) {
	t.Helper()
	s := &v.Result.Stats
	if !f.Closed && !v.unended(f) {
		t.Error("the trace is not closed")
	}
	if s.Recorded+s.Overwritten+s.Lost.Total() != f.Issued {
		t.Errorf("%d issued, but %d recorded, %d overwritten, lost %+v", f.Issued, s.Recorded, s.Overwritten, s.Lost)
	}
	if n := f.Events - f.Mentioned; n != s.Recorded || f.Overwritten != s.Overwritten {
		t.Errorf("the trace has %d records and says that %d are overwritten, Stats says %d and %d", n, f.Overwritten, s.Recorded, s.Overwritten)
	}
	if f.AllLost != s.Lost.Total() {
		t.Errorf("the trace says that %d are lost, Stats says %+v", f.AllLost, s.Lost)
	}
	if losses := v.losses(f); losses != s.Lost && !v.unended(f) {
		t.Errorf("the trace has %+v, Stats says %+v", losses, s.Lost)
	}
}

// losses returns the losses in the trace: from its gaps or, in a ring, which overwrites gaps,
// from its last heartbeat.
func (v *Victim) losses(f *Found) (l scope.Lost) {
	by := f.Lost
	if v.Ring == 0 {
		by = map[format.Loss]int64{}
		for _, g := range f.Gaps {
			by[g.Reason] += g.Count
		}
	}
	return scope.Lost{
		Window: by[format.LossWindow], Limit: by[format.LossLimit], Space: by[format.LossSpace], IO: by[format.LossIO],
		Busy: by[format.LossBusy], Stop: by[format.LossStop], Ends: by[format.LossEnd], Stacks: by[format.LossStack], Opens: by[format.LossOpen], Buffer: by[format.LossBuffer],
	}
}
