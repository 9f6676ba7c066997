package bulk

import (
	"bytes"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestShapes reads each shape back: it has the scopes that were asked for, breaks no rule of
// the format, and is the same the next time.
func TestShapes(t *testing.T) {
	for _, test := range []struct {
		shape             Shape
		scopes            int64
		rows, names, deep int
		open, apart       int
		args              int
		findings          []string
	}{
		{Regular, 50_000, 4, 2, 1, 0, 0, 0, nil},
		{Irregular, 50_000, 8, 12, 7, 0, 0, 0, nil},
		{Rows, 250_000, 1201, 12, 5, 0, 0, 0, nil},
		{Deep, 50_000, 8, 12, 63, 0, 0, 0, nil},
		{Long, 200_000, 8 + 16 + 8, 14, 7, 0, 24, 0, nil},
		{Args, 50_000, 8, 12, 7, 0, 0, 100_000, nil},
		{Ring, 50_000, 8 + 8, 13, 7, 4, 4, 0, nil},
		{Killed, 50_000, 8, 12, 8, 32, 0, 0, nil},
		{Cut, 50_000, 8, 12, 8, 27, 0, 0, []string{"state-end", "file-size"}},
		{Regular, 1, 1, 1, 0, 0, 0, 0, nil},
		{Killed, 3, 1, 3, 2, 3, 0, 0, nil},
		{Ring, 8, 8, 1, 0, 7, 1, 0, nil},
	} {
		b, err := Trace{test.shape, test.scopes, 7}.Bytes()
		if err != nil {
			t.Errorf("%s: %v", test.shape, err)
			continue
		}
		again, err := Trace{test.shape, test.scopes, 7}.Bytes()
		if err != nil || !bytes.Equal(b, again) {
			t.Errorf("%s: another trace the second time, %v", test.shape, err)
		}
		r := bytes.NewReader(b)
		found, err := trace.Verify(r, r.Size())
		rules := map[string]bool{}
		for _, f := range found {
			rules[f.Rule] = true
			if len(test.findings) == 0 {
				t.Errorf("%s: %s at %d: %s", test.shape, f.Rule, f.Offset, f.Text)
			}
		}
		for _, rule := range test.findings {
			delete(rules, rule)
		}
		if err != nil || len(rules) > 0 {
			t.Errorf("%s: %v, %v", test.shape, err, rules)
		}
		tr, err := trace.Open(r, r.Size())
		if err != nil {
			t.Errorf("%s: %v", test.shape, err)
			continue
		}
		var scopes int64
		open, apart, deep, args := 0, 0, 0, 0
		rows, names := map[uint64]bool{}, map[uint16]bool{}
		err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
			if e.Kind != format.KindTask {
				return true
			}
			scopes++
			rows[e.Goid], names[e.Name] = true, true
			deep = max(deep, int(e.Depth))
			args += len(e.Args)
			if e.Open {
				open++
			} else if e.Goid >= 1000 && test.shape != Rows {
				apart++
			}
			return true
		})
		want := test.scopes
		if test.shape == Cut {
			want = scopes
		}
		if err != nil || scopes != want || len(rows) != test.rows || len(names) != test.names || deep != test.deep || open != test.open || apart != test.apart || args != test.args {
			t.Errorf("%s: %d scopes (%d), %d rows (%d), %d names (%d), depth %d (%d), %d open (%d), %d apart (%d), %d args (%d), %v", test.shape,
				scopes, want, len(rows), test.rows, len(names), test.names, deep, test.deep, open, test.open, apart, test.apart, args, test.args, err)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, x := range []Trace{{Irregular, 0, 1}, {Long, 3, 1}, {Ring, 1 << 40, 1}, {"other", 5, 1}} {
		if _, err := x.Bytes(); err == nil {
			t.Errorf("%+v: no error", x)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, s := range Shapes {
		b.Run(string(s), func(b *testing.B) {
			for b.Loop() {
				if _, err := (Trace{s, 1_000_000, 1}).Bytes(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds()/1e6, "Mscopes/s")
		})
	}
}
