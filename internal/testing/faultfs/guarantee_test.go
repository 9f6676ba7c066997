//go:build linux && !scope_off

package faultfs_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/scope"
)

func TestMain(m *testing.M) {
	victim.Main(map[string]victim.Work{"within": within, "powered": poweredWork})
	os.Exit(shmtest.Run(m.Run))
}

// backings are those that the build has, in the order of the alphabet.
func backings() (names []string) {
	for name := range victim.Backings() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// perBacking runs a test on every backing.
func perBacking(t *testing.T, f func(t *testing.T, backing string)) {
	for _, b := range backings() {
		t.Run(b, func(t *testing.T) { f(t, b) })
	}
}

// quiet skips where the race detector's own memory and time would be measured.
func quiet(t *testing.T) {
	t.Helper()
	if sys.Race {
		t.Skip("the race detector takes time and memory of its own")
	}
}

// fileSystems are those that can be full.
var fileSystems = []struct {
	name string
	make func(t testing.TB, size int64) *faultfs.FS
}{
	{"tmpfs", faultfs.Tmpfs},
	{"ext4", func(t testing.TB, size int64) *faultfs.FS { return faultfs.Ext4(t, size, "") }},
}

// perFS runs a test on every backing on every file system; in short the copying
// backings on one.
func perFS(t *testing.T, f func(t *testing.T, fs *faultfs.FS, backing string)) {
	for i, fs := range fileSystems {
		t.Run(fs.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing string) {
				if i == 0 && backing != "disk" && !faultfs.Full() {
					return // as on the other one, but for the disk itself
				}
				f(t, fs.make(t, 512<<20), backing)
			})
		})
	}
}

// busy are victims whose workers leave the processors to others half of the time; on
// the copying backings less, since 128 MiB wait in memory before anything is lost.
func busy(path, backing string) victim.Config {
	c := victim.Config{
		Path: path, Backing: backing, Limit: scope.NoLimit,
		Workers: 8, Burst: 128, Pause: time.Millisecond, Timed: true, Collect: true,
		FlushEvery: 100 * time.Millisecond,
	}
	if backing != "disk" {
		c.Burst, c.Buffer = 1024, 128<<20
	}
	return c
}

// quick checks that the calls of a window were short, as far as that can be measured on a machine
// that does other things too: if doing nothing takes long as well, the machine is busy. One call of a
// thousand takes a new chunk, and may wait for other programs on its processor: its duration
// is checked only while no other test runs, and beside that of the calls before the window.
func (w *window) quick(t *testing.T, during string, calls, nothing *victim.Histogram) {
	t.Helper()
	if nothing.At(.999) >= time.Microsecond || sys.Race {
		return
	}
	if fault := firstTouch(); fault > 5*time.Microsecond {
		t.Logf("%s: calls are not judged, as the first touch of a page alone takes %v on this machine (%v); nothing: %v", during, fault, calls, nothing)
		return
	}
	if p := calls.At(.99); p > 5*time.Microsecond {
		t.Errorf("%s one scope of a hundred takes more than %v (%v); nothing: %v", during, p, calls, nothing)
	}
	limit, before := 5*time.Microsecond, w.calls.At(.999)
	if before > limit { // this machine takes longer without the fault, too
		limit = min(2*before, 20*time.Microsecond)
	}
	if p := calls.At(.999); p > limit && faultfs.Full() {
		t.Errorf("%s one scope of a thousand takes %v, more than %v, before %v (%v); nothing: %v", during, p, limit, before, calls, nothing)
	}
}

// firstTouch is the median time of the first write to a page of shared memory, which one call of
// a hundred makes.
var firstTouch = sync.OnceValue(func() time.Duration {
	const pages = 256
	size := pages * os.Getpagesize()
	fd, err := unix.MemfdCreate("touched", 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	if unix.Ftruncate(fd, int64(size)) != nil {
		return 0
	}
	b, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return 0
	}
	defer unix.Munmap(b)
	took := make([]time.Duration, pages)
	for i := range took {
		start := time.Now()
		b[i*os.Getpagesize()] = 1
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[pages/2]
})

// window is a stretch of time whose calls are looked at.
type window struct {
	v              *victim.Victim
	calls, nothing victim.Histogram
}

func look(v *victim.Victim) window {
	w := window{v: v}
	w.calls, w.nothing = v.Calls()
	v.Forget()
	return w
}

// end returns the calls in the window.
func (w *window) end() (calls, nothing *victim.Histogram, worst, pause time.Duration) {
	c, n := w.v.Calls()
	worst = w.v.Worst()
	pause, _ = w.v.Pause()
	return c.Sub(&w.calls), n.Sub(&w.nothing), worst, pause
}

// ls lists a directory, but for what file systems put there.
func ls(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "lost+found" && e.Name() != "filler" {
			names = append(names, e.Name())
		}
	}
	return names
}

func in(fs *faultfs.FS) string { return filepath.Join(fs.Dir, "t.scope") }
