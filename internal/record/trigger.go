//go:build !scope_off

package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
)

// Limits of what triggers write.
const (
	triggerEvery = 10 * time.Second // minimum time between snapshots
	triggerFiles = 10               // snapshots kept per program and directory
)

// trigger holds the arguments of WithTrigger.
type trigger struct {
	names glob.Filter
	over  time.Duration
	ticks int64
	dir   string
}

// watch holds the triggers of a recording. A scope that took less than the least
// limit costs a comparison; the others are checked here.
//
// Its functions are called through its fields, and it is created through the
// option, so that programs without triggers do not contain them.
type watch struct {
	slow func(r *recorder, h Handle, at int64) (*trigger, uint16)
	fire func(r *recorder, t *trigger, name uint16, took int64)

	list   []trigger
	least  int64
	byName sync.Map // name id -> *trigger, nil if none matches
	every  time.Duration
	last   time.Time // used by the errands' goroutine
	seen   atomic.Int64
}

func newWatch(o *Options, ticks func(time.Duration) int64) (*watch, error) {
	w := &watch{slow: (*recorder).slow, fire: (*recorder).fire, every: o.triggerEvery}
	for _, t := range o.triggers {
		f, err := glob.Parse(t.glob)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: WithTrigger: %w", ErrOption, err)
		case o.ring == 0:
			return nil, fmt.Errorf("%w: WithTrigger(%q): it copies a ring: add WithRing", ErrOption, t.glob)
		case t.over < 10*time.Microsecond:
			return nil, fmt.Errorf("%w: WithTrigger(%q, %v): the least is 10µs", ErrOption, t.glob, t.over)
		case t.dir == "":
			return nil, fmt.Errorf("%w: WithTrigger(%q): the directory is empty", ErrOption, t.glob)
		}
		if err := os.MkdirAll(t.dir, 0o700); err != nil {
			return nil, fmt.Errorf("WithTrigger: %w", err)
		}
		tr := trigger{names: f, over: t.over, ticks: ticks(t.over), dir: t.dir}
		if w.list = append(w.list, tr); len(w.list) == 1 || tr.ticks < w.least {
			w.least = tr.ticks
		}
	}
	return w, nil
}

// of returns the trigger that matches a name, or nil; of several, the one with
// the least limit, which fires whenever another would.
func (w *watch) of(id uint16, n *names) *trigger {
	if t, ok := w.byName.Load(id); ok {
		return t.(*trigger)
	}
	var found *trigger
	if name, ok := n.text(id); ok {
		for i := range w.list {
			if t := &w.list[i]; t.names.Match(name) && (found == nil || t.ticks < found.ticks) {
				found = t
			}
		}
	}
	w.byName.Store(id, found)
	return found
}

// slow reports whether a scope that ends at a tick fires a trigger. It must be
// called before the scope has ended, while its name is known.
func (r *recorder) slow(h Handle, at int64) (t *trigger, name uint16) {
	var head uint64
	if s := r.pool.State(r.offset(h) / pool.ChunkSize); s == pool.Open || s == pool.Sealed {
		head = r.headOf(h)
	}
	if head == 0 {
		head = r.ring.headOf(begun{r.offset(h), h.Start})
	}
	rec := format.Record{Head: head}
	if t = r.watch.of(rec.Name(), r.names); t == nil || head == 0 || at-h.Start < t.ticks {
		return nil, 0
	}
	return t, rec.Name()
}

// fire writes a snapshot because of a scope that has ended.
func (r *recorder) fire(t *trigger, name uint16, took int64) {
	r.watch.seen.Add(1)
	r.send(func() {
		w := r.watch
		if !w.last.IsZero() && time.Since(w.last) < w.every {
			return
		}
		w.last = time.Now()
		text, _ := r.names.text(name)
		d := time.Duration(float64(took) / float64(r.rate) * 1e9)
		path, err := r.opts.keep.snapshot(r, filepath.Join(t.dir, fileName("slow-")), fmt.Sprintf("%s took %v, the trigger is at %v", text, d, t.over))
		if err != nil {
			r.note(fmt.Sprintf("trigger: %s took %v; no snapshot: %v", text, d, err))
			r.failed.Store(&err)
			return
		}
		r.note(fmt.Sprintf("trigger: %s took %v; snapshot %s", text, d, path))
		thin(t.dir)
	})
}

// thin removes the oldest of the program's triggered snapshots in a directory,
// so that a program that is slow for days does not fill the disk. Other users'
// files, and other things than files, are neither removed nor counted.
func thin(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	prefix := programName() + "-slow-"
	var names []string
	for {
		more, err := d.Readdirnames(256)
		for _, n := range more {
			if !strings.HasPrefix(n, prefix) || !strings.HasSuffix(n, extension) {
				continue
			}
			if st, err := os.Lstat(filepath.Join(dir, n)); err == nil && st.Mode().IsRegular() && sys.Own(st) {
				names = append(names, n)
			}
		}
		if err != nil {
			break
		}
	}
	for ; len(names) > triggerFiles; names = names[1:] {
		for i := range names { // the name contains the time
			if names[i] < names[0] {
				names[0], names[i] = names[i], names[0]
			}
		}
		_ = os.Remove(filepath.Join(dir, names[0]))
	}
}

// headOf returns word 2 of an open scope whose chunk has left, else 0.
func (g *ring) headOf(b begun) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.open[b]; c != nil {
		return c.Record.Head
	}
	return 0
}
