//go:build !scope_off

package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

// TestG13Cycles starts and stops while 16 goroutines keep recording. A recording
// releases all its resources: goroutines, descriptors and mappings are as before.
func TestG13Cycles(t *testing.T) {
	cycles := 100
	switch {
	case faultfs.Emulated():
		cycles = 5
	case faultfs.Full() && !sys.Race:
		cycles = 10_000
	case testing.Short():
		cycles = 50
	}
	var lines []string
	perBacking(t, func(t *testing.T, backing Option) {
		tr := newTraffic(16)
		defer tr.end()
		dir := t.TempDir() + string(filepath.Separator)
		var before resources
		var recorded, lost int64
		// Ignore the first tenth, in which the runtime's threads and heap grow.
		for i := range cycles {
			if err := Start(dir, backing, shortTicks(), WithLimit(1<<20)); err != nil {
				t.Fatalf("cycle %d: %v", i, err)
			}
			if i%4 == 0 { // the others end before their writers have recorded
				until(t, "records", func() bool { s := Stats(); return s.Recorded+s.Lost.Total() >= 100 })
			}
			if err := Stop(); err != nil {
				t.Fatalf("cycle %d: %v", i, err)
			}
			s := Stats()
			recorded += s.Recorded
			lost += s.Lost.Total()
			if i%100 == 0 {
				read(t, Path())
				verify(t, Path())
			}
			if err := os.Remove(Path()); err != nil {
				t.Fatal(err)
			}
			if i == cycles/10 {
				before = inUse(t)
			}
		}
		after := givenBack(t, before)
		if recorded == 0 {
			t.Error("nothing was recorded")
		}
		lines = append(lines, fmt.Sprintf("%s: %d cycles under 16 writers, %d records kept, %d lost and counted; goroutines %d, then %d; descriptors %d, then %d; mappings %d, then %d, of our files %d",
			filepath.Base(t.Name()), cycles, recorded, lost, before.goroutines, after.goroutines, before.descriptors, after.descriptors, before.mappings, after.mappings, after.files))
	})
	t.Logf("G13: %s", strings.Join(lines, "; "))
}

// TestStopAfterManyChunks stops a recording most of whose chunks have left: Stop
// does not wait for those.
func TestStopAfterManyChunks(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		least := time.Hour
		for range 3 {
			start(t, backing, shortTicks())
			for range 4 * atOnce {
				Task("a")()
			}
			breathe(t)
			breathe(t)
			begin := time.Now()
			finish(t)
			if least = min(least, time.Since(begin)); least < time.Second/2 {
				return
			}
		}
		t.Errorf("Stop took %v at least", least)
	})
}
