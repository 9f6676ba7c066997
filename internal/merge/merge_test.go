package merge

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// merged merges traces, checks that the result breaks no rule of the format, and opens it.
func merged(t *testing.T, inputs ...string) (*trace.Trace, Report) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "merged.scope")
	var list []Input
	for _, path := range inputs {
		list = append(list, Input{Path: path, Name: filepath.Base(path)})
	}
	report, err := Files(context.Background(), list, out, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, err := trace.Verify(f, report.Size)
	if err != nil || len(found) > 0 {
		t.Fatalf("the merged trace: %v %v", found[:min(len(found), 10)], err)
	}
	return tracetest.OpenFile(t, out), report
}

// ofText writes a trace given as text.
func ofText(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	tracetest.Write(t, path, content)
	return path
}

// ofBulk writes a big trace.
func ofBulk(t testing.TB, shape bulk.Shape, scopes int64, seed uint64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d.scope", shape, seed))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := (bulk.Trace{Shape: shape, Scopes: scopes, Seed: seed}).Write(f); err != nil {
		t.Fatal(err)
	}
	return path
}

// ofBeat matches the names of counters that come from heartbeats.
var ofBeat = regexp.MustCompile(` [0-9]+ (memory|heap|goroutines|CPUs)$`)

// lines lists the events of one process, by its own goroutine ids and shifted by so many ns.
func lines(t *testing.T, tr *trace.Trace, process uint32, shift int64) (all []string) {
	t.Helper()
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if p, ok := tr.ProcessOf(e.Goid); ok && p.Number != process || e.Kind == format.KindCounter && ofBeat.MatchString(tr.Name(e.Name)) {
			continue
		}
		slots := func(list []format.Slot) (s string) {
			for _, x := range list {
				switch x.Type {
				case format.SlotKey:
					s += tr.Name(uint16(x.Value)) + "="
				case format.SlotGoid:
					s += fmt.Sprintf("g%d ", tr.OwnGoid(x.Value))
				case format.SlotAddr:
					s += fmt.Sprintf("%#x ", x.Value&(1<<48-1))
				default:
					s += fmt.Sprintf("%d:%d %s ", x.Type, x.Value, x.Str)
				}
			}
			return s
		}
		quality, cpu := e.Quality, e.CPU
		all = append(all, fmt.Sprintf("%v %q track=%q g=%d endg=%d start=%d dur=%d open=%v cpu=%d/%v user=%d system=%d depth=%d thread=%d owner=%d value=%d/%d creator=%d created=%d %s| %s",
			e.Kind, tr.Name(e.Name), tr.Name(e.Track), tr.OwnGoid(e.Goid), tr.OwnGoid(e.EndGoid), e.Start+shift, e.Dur, e.Open, cpu, quality, e.User, e.System, e.Depth, e.Thread, e.Owner,
			e.Value, e.ValueType, tr.OwnGoid(e.Creator), e.Created+shift, slots(e.Args), slots(e.EndArgs)))
	}
	slices.Sort(all)
	return all
}

// same fails the test if two lists differ.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("%s: %d of %d events, which differ:\n%s\n%s", what, len(got), len(want), strings.Join(got[i:min(i+2, len(got))], "\n"), strings.Join(want[min(i, len(want)):min(i+2, len(want))], "\n"))
		}
	}
}

// TestShapes checks that a trace of any shape keeps its events when it is merged with others.
func TestShapes(t *testing.T) {
	for _, shape := range bulk.Shapes {
		t.Run(string(shape), func(t *testing.T) {
			paths := []string{ofBulk(t, shape, 2_000, 1), ofBulk(t, shape, 2_001, 2), ofBulk(t, bulk.Regular, 1000, 3)}
			m, report := merged(t, paths...)
			if len(report.Processes) != 3 || len(m.Processes()) != 3 {
				t.Fatalf("%+v", report)
			}
			for i, path := range paths {
				in := tracetest.OpenFile(t, path)
				p := m.Processes()[i]
				if p.Path != filepath.Base(path) || p.From != 0 || p.To != in.End() || (p.Error == -1) != (i > 0) || p.Offset != 0 || p.PID != 4711 {
					t.Errorf("%+v, to %d", p, in.End())
				}
				if (p.Lacks != "") != (i < 2 && (shape == bulk.Killed || shape == bulk.Cut)) || (p.Overwritten > 0) != (i < 2 && shape == bulk.Ring) {
					t.Errorf("%+v", p)
				}
				same(t, path, lines(t, m, p.Number, 0), lines(t, in, 0, 0))
			}
		})
	}
}

func BenchmarkFiles(b *testing.B) {
	const each = 1_000_000
	inputs := []Input{{Path: ofBulk(b, bulk.Irregular, each, 1)}, {Path: ofBulk(b, bulk.Irregular, each, 2)}}
	for b.Loop() {
		if _, err := Files(context.Background(), inputs, os.DevNull, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*2*each/b.Elapsed().Seconds()/1e6, "Mscopes/s")
}
