package pack_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pack"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// FuzzRoundTrip checks that any contents of a trace's chunks are the same after unpacking, and that
// no defect of the model packs them as bytes.
func FuzzRoundTrip(f *testing.F) {
	for _, g := range tracetest.Goldens(f, "../trace") {
		f.Add(g.Bytes(f))
	}
	f.Add(tracetest.Hostile(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, _, err := format.DecodeHeader(data)
		if err != nil || h.Within(int64(len(data))) != nil {
			return
		}
		m, _ := packed(t, data)
		if got := all(t, open(t, m), len(data)); !bytes.Equal(got, data) {
			t.Errorf("differs from byte %d on", firstDifference(got, data))
		}
	})
}

// FuzzReader checks that any mutated packed file is refused, or read in bounds, and never takes
// more memory than its size allows.
func FuzzReader(f *testing.F) {
	for _, s := range []bulk.Shape{bulk.Irregular, bulk.Args, bulk.Long} {
		data, err := (bulk.Trace{Shape: s, Scopes: 300}).Bytes()
		if err != nil {
			f.Fatal(err)
		}
		m, _ := packed(f, data)
		f.Add([]byte(m), uint32(200), byte(1), uint32(700), byte(255))
	}
	m, _ := packed(f, tracetest.Hostile(f))
	f.Add([]byte(m), uint32(3000), byte(3), uint32(4000), byte(9))
	f.Fuzz(func(t *testing.T, data []byte, at1 uint32, x1 byte, at2 uint32, x2 byte) {
		data = bytes.Clone(data)
		if len(data) == 0 {
			return
		}
		data[at1%uint32(len(data))] ^= x1
		data[at2%uint32(len(data))] ^= x2
		pack.Resum(data) // or only the checksums would be tested
		r, err := pack.Open(bytes.NewReader(data), int64(len(data)), "x.scopez")
		if err != nil {
			return
		}
		defer r.Close()
		size := min(r.Size(), 64<<20)
		var out discard
		if err := pack.Copy(context.Background(), &out, r, size, r.NextData, nil); err != nil {
			t.Error(err)
		}
		if tr, err := trace.Open(r, size); err == nil {
			if err := tr.Events(trace.Options{}, func(*trace.Event) bool { return true }); err != nil {
				t.Error(err)
			}
		}
	})
}

type discard struct{}

func (*discard) Write(b []byte) (int, error)          { return len(b), nil }
func (*discard) Seek(off int64, _ int) (int64, error) { return off, nil }
