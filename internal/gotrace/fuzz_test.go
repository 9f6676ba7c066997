package gotrace_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// FuzzRead reads arbitrary bytes as a Go execution trace. The transitions delivered must
// be consistent in any case.
func FuzzRead(f *testing.F) {
	const at = start + 1000
	one := shared(newMade(), at).end().b
	f.Add(one, []byte(nil))
	f.Add(shared(newMade(), at).end().begin(at+1000).event(at+1010, evGoStatus, 8, 0, runnable).end().b, one)
	f.Add(newMade().begin(at).event(at+10, evGoStatus, 7, 100, running).event(at+20, evStatusStack, 9, 0, asleep, 3).
		event(at+30, evAssistBegin, 1).event(at+60, evSTWBegin, 9, 1).event(at+70, evSTWEnd).event(at+80, evAssistEnd).
		event(at+90, evSyscallBegin, 1, 1).sample(at+42, 7, 1).end().b, one)
	// A goroutine that has ended exists again.
	f.Add(newMade().begin(at).event(at+10, evGoStatus, 7, 100, running).event(at+500, evGoDestroy).end().b, shared(newMade(), at+600).end().b)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a) > 20_000 || len(b) > 10_000 {
			t.Skip()
		}
		whole(t, tracetest.OpenText(t, in(tasks(3, 1120), a, b)))
	})
}

// TestDamaged reads streams in which some bytes were changed.
func TestDamaged(t *testing.T) {
	const at = start + 1000
	good := shared(shared(newMade(), at).end(), at+1000).end().b
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		b := bytes.Clone(good)
		for range 1 + rnd.IntN(4) {
			i := 16 + rnd.IntN(len(b)-16)
			switch rnd.IntN(4) {
			case 0:
				b[i] = byte(rnd.IntN(256))
			case 1:
				b[i] ^= 1 << rnd.IntN(8)
			case 2:
				b = append(b[:i], b[i+1:]...)
			case 3:
				b = slices.Insert(b, i, byte(rnd.IntN(60)))
			}
		}
		whole(t, tracetest.OpenText(t, in(tasks(3, 1120), b)))
		if t.Failed() {
			t.Fatalf("of %x", b)
		}
	}
}

// whole checks what must hold of every trace.
func whole(t *testing.T, tr *trace.Trace) {
	t.Helper()
	last := map[uint64]gotrace.Transition{}
	var info *gotrace.Info
	got, err := gotrace.Read(tr, gotrace.Handler{
		Info: func(i *gotrace.Info) { info = i },
		Transition: func(x *gotrace.Transition) {
			was, ok := last[x.Goid]
			// A later stream may have a goroutine id that has ended, without its
			// creation.
			follows := x.From == was.To || was.To == gotrace.Unknown || was.To == gotrace.NotExist && x.From == gotrace.Unknown
			if ok && (!follows || x.Time < was.Time) || x.From == x.To || x.Goid == 0 {
				t.Errorf("after %+v comes %+v", was, *x)
			}
			if x.Time < 0 || x.Time > tr.End() {
				t.Errorf("%+v is not in a trace of %d ns", *x, tr.End())
			}
			last[x.Goid] = *x
			info.Stack(x.Stack)
			info.Stack(x.ByStack)
		},
		Sample: func(x *gotrace.Sample) { info.Stack(x.Stack) },
		Range: func(x *gotrace.Range) {
			if x.From < 0 || x.To < x.From || x.To > tr.End() {
				t.Errorf("%+v in a trace of %d ns", *x, tr.End())
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range got.Stretches {
		if s.From < 0 || s.To < s.From || i > 0 && s.From <= got.Stretches[i-1].To {
			t.Fatalf("stretches %v", got.Stretches)
		}
	}
	for id, x := range last {
		if x.To != gotrace.NotExist && x.To != gotrace.Unknown {
			t.Fatalf("goroutine %d is left as %+v", id, x)
		}
	}
}
