package timeline

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// TestGolden: for every trace of the reader's tests the index has the reader's events: the
// same number of items, at the same depths, without overlaps.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("../trace/testdata/*.txtar")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d traces, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			b := filetest.Read(t, path)
			_, script, _ := strings.Cut(string(b), "-- trace --\n")
			script, _, _ = strings.Cut(script, "\n-- ")
			data, err := text.Assemble(strings.NewReader(script))
			if err != nil {
				t.Skip("no trace at all")
			}
			tr, err := trace.Open(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				t.Skip("not to be opened")
			}
			x, err := Load(context.Background(), tr, LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := map[[4]int64]int64{} // goid, kind, name, start -> least depth
			n := 0
			for e := range tracetest.Events(t, tr, trace.Options{}) {
				switch e.Kind {
				case format.KindCounter, format.KindTrack, format.KindGo:
					continue
				case format.KindEvent, format.KindPending:
					e.Depth = 0
				}
				key := [4]int64{int64(e.Goid), int64(e.Kind), int64(e.Name), e.Start}
				if d, ok := want[key]; !ok || int64(e.Depth) < d {
					want[key] = int64(e.Depth)
				}
				n++
			}
			d := pack(t, &Container{Meta: x.Meta(tr, MetaOptions{}), Tile: x.Tile(-1<<62, 1<<62, 0)})
			items := d.items()
			if len(items) != n || x.Items() != int64(n) {
				t.Errorf("%d items, counted %d, want %d", len(items), x.Items(), n)
			}
			for i, it := range items {
				depth, ok := want[[4]int64{it.goid, it.kind, it.name, it.start}]
				if !ok || it.goid != 0 && it.depth < depth {
					t.Errorf("%+v, want depth %d or more", it, depth)
				}
				if i > 0 && items[i-1].goid == it.goid && items[i-1].depth == it.depth && items[i-1].start+items[i-1].dur > it.start {
					t.Errorf("%+v overlaps %+v", items[i-1], it)
				}
			}
		})
	}
}
