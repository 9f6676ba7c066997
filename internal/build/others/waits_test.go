package others

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// waited has the time of waits for locks, in ns, by the package that locks and unlocks them.
type waited map[string]float64

func (w waited) all() (sum float64) {
	for _, ns := range w {
		sum += ns
	}
	return sum
}

// TestWaits compares the waits for mutexes of a server and its clients under load with Go's
// own profiles of the same run. Our waits end when the goroutine has the lock, Go's when the
// lock is released: in between it waits for a processor. If others acquire the lock first it
// waits again, which the block profile counts completely or not at all, and the mutex
// profile estimates for all but the first waiter. So both lie between the lock waits of Go's
// execution trace and the whole of our waits. If those two are equal, as for the clients
// here, all are.
func TestWaits(t *testing.T) {
	c := module(t, "github.com/nats-io/nats-server/v2@v2.15.2")
	dir := t.TempDir()
	mutex, block := filepath.Join(dir, "mutex"), filepath.Join(dir, "block")
	// With an unlimited budget each wait has an event, and the execution trace is complete.
	c.must(c.tool, "test", "--args", "--budget=100%", "--keep", "-o", dir, "-overlay", blocksProfiled(c, dir),
		"-run=NONE", "-bench=^BenchmarkCoreFanIn$/^msgSz=1024b$/^pubs=10$", "-benchtime=20000x", "-o", filepath.Join(dir, "server.test"),
		"-mutexprofile", mutex, "-mutexprofilefraction=1", "-blockprofile", block, "-blockprofilerate=1", "./server")
	whole, blocked := waitsOf(t, traces(t, dir, 1)[0])
	unlocks, locks := contention(t, mutex, "Unlock", "RUnlock"), contention(t, block, "Lock", "RLock")
	if locks.all() < 100e6 {
		t.Fatal("its locks are hardly waited for")
	}
	t.Logf("s by package: the whole %v, waiting for a lock %v; block profile %v, mutex profile %v", whole, blocked, locks, unlocks)
	compared, exact := 0, 0
	for pkg := range locks {
		if locks[pkg] < locks.all()/20 {
			continue
		}
		compared++
		for name, theirs := range map[string]float64{"block": locks[pkg], "mutex": unlocks[pkg]} {
			if theirs < blocked[pkg]/1.05 || theirs > 1.05*whole[pkg] {
				t.Errorf("%s: waits of %.3f s, of which %.3f s for a lock, and %.3f s by the %s profile", pkg, whole[pkg]/1e9, blocked[pkg]/1e9, theirs/1e9, name)
			}
		}
		if whole[pkg] < 1.05*blocked[pkg] {
			exact++
		}
	}
	if exact == 0 {
		t.Error("in each package much of the waiting is for a processor: nothing is known for sure")
	}
	if compared < 2 {
		t.Errorf("the server and its clients do not both have a part: %v", locks)
	}
}

// blocksProfiled returns an overlay in which the server does not switch off the block
// profile.
func blocksProfiled(c *checkout, dir string) string {
	c.t.Helper()
	const path, off = "server/server.go", "runtime.SetBlockProfileRate(rate)"
	text, err := os.ReadFile(filepath.Join(c.dir, path))
	if err != nil {
		c.t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(off)) {
		c.t.Fatalf("%s: no %s", path, off)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(c.dir, path): filepath.Join(dir, "server.go")}})
	if err != nil {
		c.t.Fatal(err)
	}
	for name, text := range map[string][]byte{"server.go": bytes.Replace(text, []byte(off), []byte("_ = rate"), 1), "overlay.json": overlay} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	return filepath.Join(dir, "overlay.json")
}

// wait is a wait for a mutex.
type wait struct {
	from, to int64 // ns from the trace's start
	pkg      string
}

// waitsOf returns a trace's waits for mutexes, and the part of these that is a wait for a
// lock in Go's execution trace.
func waitsOf(t *testing.T, path string) (whole, blocked waited) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	at := map[uint16]string{}
	for _, p := range tr.Places() {
		if p.Kind == format.LockMutex || p.Kind == format.LockRWMutex {
			at[p.Name] = packageOf(p.Function)
		}
	}
	whole, blocked = waited{}, waited{}
	waits := map[uint64][]wait{} // by goroutine, sorted by time
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if pkg := at[e.Name]; e.Kind == format.KindWait && !e.Open && pkg != "" {
			waits[e.Goid] = append(waits[e.Goid], wait{e.Start, e.Start + e.Dur, pkg})
			whole[pkg] += float64(e.Dur)
		}
	}
	if _, err := states.Read(tr, func(v *states.Interval) {
		if v.State != states.Lock {
			return
		}
		of := waits[v.Goid]
		i, _ := slices.BinarySearchFunc(of, v.From, func(x wait, at int64) int { return cmp.Compare(x.to, at) })
		for ; i < len(of) && of[i].from < v.To; i++ {
			blocked[of[i].pkg] += float64(min(v.To, of[i].to) - max(v.From, of[i].from))
		}
	}); err != nil {
		t.Fatal(err)
	}
	return whole, blocked
}

// packageOf returns the last element of the path of a function's package.
func packageOf(function string) string {
	function = strings.ReplaceAll(function[strings.LastIndexByte(function, '/')+1:], "%2e", "·")
	name, _, _ := strings.Cut(function, ".")
	return strings.TrimSuffix(name, "·go")
}

// contention returns a profile's times of mutexes, in methods of these names.
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
		if pkg := calledBy(s, methods); pkg != "" {
			w[pkg] += float64(s.Value[1])
		}
	}
	return w
}

// calledBy returns the package that called one of these methods of a mutex, if a sample is
// of one: the frames before are the library's own. The runtime's own waits are excluded.
func calledBy(s *profile.Sample, methods []string) string {
	called := false
	for _, l := range s.Location {
		for _, line := range l.Line {
			name := line.Function.Name
			of, method, _ := strings.Cut(name, ").")
			switch {
			case of == "sync.(*Mutex" || of == "sync.(*RWMutex" || of == "internal/sync.(*Mutex":
				called = called || slices.Contains(methods, method)
			case called:
				return packageOf(name)
			default:
				return ""
			}
		}
	}
	return ""
}
