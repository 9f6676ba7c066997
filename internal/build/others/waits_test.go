package others

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// waited is how long locks were waited for, in ns, by the function and the line that locks.
type waited map[string]float64

func (w waited) all() (sum float64) {
	for _, ns := range w {
		sum += ns
	}
	return sum
}

// TestWaits: waits for mutexes of a server under a load are those of Go's own profiles of the
// same run: by place those of the block profile, and all together those of the mutex profile,
// which has the place of who unlocks.
func TestWaits(t *testing.T) {
	c := module(t, "github.com/nats-io/nats-server/v2@v2.15.2")
	dir := t.TempDir()
	mutex, block := filepath.Join(dir, "mutex"), filepath.Join(dir, "block")
	c.must(c.tool, "test", "--args", "--keep", "-o", dir, "-run=NONE", "-bench=^BenchmarkCoreFanIn$/^msgSz=1024b$/^pubs=10$", "-benchtime=30000x", "-o", filepath.Join(dir, "server.test"),
		"-mutexprofile="+mutex, "-mutexprofilefraction=1", "-blockprofile="+block, "-blockprofilerate=1", "./server")
	ours := waitsOf(t, traces(t, dir, 1)[0])
	blocked, unlocked := contention(t, block, "Lock", "RLock"), contention(t, mutex, "Unlock", "RUnlock")
	t.Logf("waits of %.3f s at %d places; %.3f s at %d places by the block profile, %.3f s by the mutex profile",
		ours.all()/1e9, len(ours), blocked.all()/1e9, len(blocked), unlocked.all()/1e9)
	if blocked.all() < 50e6 {
		t.Fatal("its locks are hardly waited for")
	}
	within(t, "by the mutex profile", ours.all(), unlocked.all())
	within(t, "by the block profile", ours.all(), blocked.all())
	for at, ns := range blocked {
		if ns > blocked.all()/50 {
			within(t, at, ours[at], ns)
		}
	}
	for at, ns := range ours {
		if ns > blocked.all()/50 && blocked[at] == 0 {
			t.Errorf("%s: waits of %.3f s that the block profile does not know", at, ns/1e9)
		}
	}
}

// within holds two measurements of the same waits against each other: ours begins before the
// runtime's, and ends behind it, where the goroutine may have been stopped.
func within(t *testing.T, what string, ours, theirs float64) {
	t.Helper()
	const factor = 1.25
	t.Logf("%s: %.3f s, ours %.3f s", what, theirs/1e9, ours/1e9)
	if ours > factor*theirs || theirs > factor*ours {
		t.Errorf("%s: %.3f s, and %.3f s in the trace; they may differ by a factor of %v", what, theirs/1e9, ours/1e9, factor)
	}
}

// waitsOf is what a trace has of waits for mutexes.
func waitsOf(t *testing.T, path string) waited {
	t.Helper()
	tr, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	at, w := map[uint16]string{}, waited{}
	for _, p := range tr.Places() {
		if p.Kind == format.LockMutex || p.Kind == format.LockRWMutex {
			at[p.Name] = key(p.Function, p.File, int64(p.Line))
		}
	}
	add := func(name uint16, ns int64) {
		if at[name] != "" {
			w[at[name]] += float64(ns)
		}
	}
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind == format.KindWait && !e.Open {
			add(e.Name, e.Dur)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if err := tr.EachLockSums(func(s *format.LockSums) bool {
		add(s.Name, s.ShortWait)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

func key(function, file string, line int64) string {
	return fmt.Sprintf("%s %s:%d", function, filepath.Base(file), line)
}

// contention is what a profile has of mutexes, by who called one of these methods.
func contention(t *testing.T, path string, methods ...string) waited {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	w := waited{}
	for _, s := range p.Sample {
		of := false
		for _, l := range s.Location {
			for _, line := range l.Line {
				f := line.Function
				if strings.HasPrefix(f.Name, "sync.(*") || strings.HasPrefix(f.Name, "internal/sync.(*") {
					for _, m := range methods {
						of = of || strings.HasSuffix(f.Name, "utex)."+m)
					}
					continue
				}
				if of {
					w[key(f.Name, f.Filename, line.Line)] += float64(s.Value[1])
				}
				goto next
			}
		}
	next:
	}
	return w
}
