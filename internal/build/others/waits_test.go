package others

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// waited is how long locks were waited for, in ns, by the package that locks and unlocks them.
type waited map[string]float64

func (w waited) all() (sum float64) {
	for _, ns := range w {
		sum += ns
	}
	return sum
}

// TestWaits: waits for mutexes of a server and its clients under a load are those of Go's own
// mutex profile of the same run, which has the places of those who unlock: all together, and by
// package. Ours begin before the runtime's, and end behind them.
func TestWaits(t *testing.T) {
	c := module(t, "github.com/nats-io/nats-server/v2@v2.15.2")
	dir := t.TempDir()
	mutex := filepath.Join(dir, "mutex")
	c.must(c.tool, "test", "--args", "--keep", "-o", dir, "-run=NONE", "-bench=^BenchmarkCoreFanIn$/^msgSz=1024b$/^pubs=10$", "-benchtime=20000x",
		"-o", filepath.Join(dir, "server.test"), "-mutexprofile="+mutex, "-mutexprofilefraction=1", "./server")
	ours, theirs := waitsOf(t, traces(t, dir, 1)[0]), contention(t, mutex)
	if theirs.all() < 100e6 {
		t.Fatal("its locks are hardly waited for")
	}
	within(t, "all", ours.all(), theirs.all())
	compared := 0
	for pkg := range theirs {
		if max(ours[pkg], theirs[pkg]) > theirs.all()/20 {
			within(t, pkg, ours[pkg], theirs[pkg])
			compared++
		}
	}
	if compared == 0 {
		t.Errorf("no package has a part: %v", theirs)
	}
}

// within holds two measurements of the same waits against each other.
func within(t *testing.T, what string, ours, theirs float64) {
	t.Helper()
	const factor = 1.25
	t.Logf("%s: waits of %.3f s, and %.3f s by the mutex profile", what, ours/1e9, theirs/1e9)
	if ours > factor*theirs || theirs > factor*ours {
		t.Errorf("%s: waits of %.3f s, and %.3f s by the mutex profile; they may differ by a factor of %v", what, ours/1e9, theirs/1e9, factor)
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
			at[p.Name] = packageOf(p.Function)
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

// packageOf is the last element of the path of a function's package.
func packageOf(function string) string {
	function = strings.ReplaceAll(function[strings.LastIndexByte(function, '/')+1:], "%2e", "·")
	name, _, _ := strings.Cut(function, ".")
	return strings.TrimSuffix(name, "·go")
}

// contention is what a profile has of mutexes.
func contention(t *testing.T, path string) waited {
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
		if pkg := unlockedBy(s); pkg != "" {
			w[pkg] += float64(s.Value[1])
		}
	}
	return w
}

// unlockedBy is the package that let go of a mutex, where a sample is of that: the frames before
// are the library's own. What the runtime waits for itself is not.
func unlockedBy(s *profile.Sample) string {
	called := false
	for _, l := range s.Location {
		for _, line := range l.Line {
			switch f := line.Function.Name; {
			case strings.HasPrefix(f, "sync.(*"), strings.HasPrefix(f, "internal/sync.(*"):
				called = true
			case called:
				return packageOf(f)
			default:
				return ""
			}
		}
	}
	return ""
}
