//go:build linux || darwin

package live

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/scope"
)

// viewer is a page that shows a trace.
type viewer struct {
	r      *running
	path   string // of the trace
	names  []string
	meta   *timeline.Meta
	cursor string
	got    map[string]int // arguments of the scopes named "n", with their counts
	open   []string       // names of the open scopes
	places map[string]string
}

// view requests the whole trace.
func (r *running) view() *viewer {
	r.t.Helper()
	v := &viewer{r: r, path: "/t/0/api/"}
	v.whole()
	return v
}

func (v *viewer) whole() {
	v.r.t.Helper()
	p := container(v.r.t, v.r.get(v.path+"whole"))
	v.names, v.got, v.places = nil, map[string]int{}, map[string]string{}
	v.take(p)
}

// live requests the news.
func (v *viewer) live() *packed {
	v.r.t.Helper()
	p := container(v.r.t, v.r.get(v.path+"live?cursor="+url.QueryEscape(v.cursor)))
	if !p.Meta.Reload {
		v.take(p)
	}
	return p
}

func (v *viewer) take(p *packed) {
	v.names = append(v.names[:p.Meta.NamesFrom], p.Meta.Names...)
	v.meta, v.cursor = p.Meta, p.Meta.Live.Cursor
	if p.Meta.Places.Len() > 0 {
		for _, x := range p.Meta.Places.Of {
			name := v.names[int(x[0].(float64))]
			if _, again := v.places[name]; again {
				v.r.t.Errorf("the place of %q came twice", name)
			}
			v.places[name] = x[3].(string)
		}
	}
	for _, a := range p.args(v.names, "n") {
		v.got[a]++
	}
	if p.Open != nil {
		v.open = nil
		for _, o := range p.Open.Items {
			v.open = append(v.open, v.names[int(o[2].(float64))])
		}
	}
}

// until requests news until done returns true.
func (v *viewer) until(what string, done func() bool) {
	v.r.t.Helper()
	for deadline := time.Now().Add(patience); !done(); {
		if time.Now().After(deadline) {
			v.r.t.Fatalf("%s: not after %v; writer %s, %d scopes, open %q", what, patience, v.meta.Writer, len(v.got), v.open)
		}
		if p := v.live(); p.Meta.Reload {
			v.r.t.Fatalf("%s: asked to load again", what)
		}
	}
}

// record starts a recording that ends with the test at the latest.
func record(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "live.scope")
	if err := scope.Start(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scope.Stop() })
	return path
}

func onHeap(m *timeline.Meta) bool {
	for _, fact := range m.Info {
		if fact[0] == "backing" {
			return strings.HasPrefix(fact[1], "heap")
		}
	}
	return false
}

func number(i int) string { return fmt.Sprintf(`{"0":%d}`, i) }

const tenth = 100 * time.Millisecond

// ruler counts pauses of a tenth of a second until the test ends. On a busy machine it is as
// late as the server, which makes such pauses too.
func ruler(t *testing.T) *atomic.Int64 {
	turns := new(atomic.Int64)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for pause(t.Context(), tenth) {
			turns.Add(1)
		}
	}()
	t.Cleanup(func() { <-ended })
	return turns
}
