//go:build linux && amd64 && !scope_off && !scope_pure && !race

package record_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

// points are the named points between two steps, and when they are passed: on the
// assembly path, on the Go path, or only when a ring reuses a place (ring), or deletes
// its oldest file (segments), or when the recording starts (start) or stops (stop), or
// with one backing.
var points = []struct {
	names string
	when  string
}{
	{"chunk.taken chunk.installed chunk.anchored end.marked end.put", "assembly"},
	{"go.begin.reserved go.begin.filled go.begin.published go.ext.unit go.put.reserved go.put.filled go.put.published " +
		"go.chunk.crossed go.chunk.taken go.chunk.headed go.chunk.open go.chunk.sealed go.end.marked", "go"},
	{"block.filled block.published", "blocks"}, // not those that Start writes
	{"block.chunk.taken block.chunk.sealed block.chunk.headed", "chunks of blocks"},
	{"flush.round flush.final flush.left flush.dropped flush.leaving", "both"},
	{"flush.saved", "disk"},
	{"hot.mapped hot.named hot.unnamed hot.unmapped hot.zeroed flush.copied", "shm"},
	{"pool.grown pool.overwrite pool.detached pool.wiped pool.attached pool.ready ring.carried ring.stated ring.counted", "ring"},
	{"segment.made pool.grown pool.attached pool.ready pool.overwrite pool.detached segment.removed ring.counted", "segments"},
	{"start.pool start.header", "start"},
	{"stop.sealed stop.beat stop.reported stop.shut stop.closed", "stop"},
}

// TestG16Point kills a victim at each named point, and at each also parks one goroutine
// while the others commit 100,000 scopes, or lose some, before all are killed. All
// scopes that had ended are there.
func TestG16Point(t *testing.T) {
	if !faultfs.Full() {
		t.Skip("builds this test again, twice; SCOPEVIEW_FAULT=full")
	}
	binaries := map[string]string{"assembly": buildTest(t, "scope_testpoint"), "go": buildTest(t, "scope_testpoint,scope_go")}
	var mu sync.Mutex
	sum, killed, stayed := &tally{}, 0, 0
	t.Run("at", func(t *testing.T) {
		for _, p := range points {
			for name := range strings.FieldsSeq(p.names) {
				for path, binary := range binaries {
					if (p.when == "assembly" || p.when == "go") && p.when != path {
						continue
					}
					for _, b := range killProof {
						ways := fmt.Sprintf("plain backing=%d pace=256", b.kind)
						kill, stay := 1, 2
						switch p.when {
						case "blocks":
							ways += " beats"
							kill, stay = 60, 61
						case "chunks of blocks":
							ways += " beats"
							kill, stay = 2, 2
						case "ring", "segments":
							ways = strings.Replace(ways, "plain", p.when, 1)
						case "stop":
							ways += " stop=20000"
						}
						if p.when != "both" && p.when != "ring" && p.when != "segments" && b.name != "disk" && b.name != p.when || p.when == "shm" && (b.name != "shm" || path == "go") {
							continue // it is not passed, or makes no difference
						}
						t.Run(name+"/"+p.when+"/"+path+"/"+b.name, func(t *testing.T) {
							t.Parallel()
							one, err := killAtPoint(t, binary, ways, name, kill)
							if err != nil {
								t.Fatal("killed:", err)
							}
							mu.Lock()
							killed++
							sum.add(one)
							mu.Unlock()
							if p.when == "start" || p.when == "stop" {
								return
							}
							if one, err = stayAtPoint(t, binary, ways, name, stay); err != nil {
								t.Fatal(err)
							}
							mu.Lock()
							stayed++
							sum.add(one)
							mu.Unlock()
						})
					}
				}
			}
		}
	})
	t.Logf("G16: named points: %d victims killed at one, %d with a goroutine that stays at one while others go on: %v", killed, stayed, sum)
}

// killAtPoint kills a victim when it passes a point for the nth time.
func killAtPoint(t *testing.T, binary, ways, name string, nth int) (*tally, error) {
	v, err := newVictim(binary, ways, fmt.Sprintf("SCOPEVIEW_TESTPOINTS=%s:%d:kill", name, nth))
	if err != nil {
		return nil, err
	}
	defer v.close(t)
	late := time.AfterFunc(20*time.Second, func() { _ = v.cmd.Process.Signal(os.Interrupt) })
	defer late.Stop()
	_ = v.cmd.Wait()
	if ws := v.cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		return nil, fmt.Errorf("it did not come to %s %d times: %v: %s", name, nth, v.cmd.ProcessState, v.err.String())
	}
	if name == "stop.closed" {
		v.stopped.Store(1) // what follows changes nothing
	}
	return v.check(false)
}

// stayAtPoint parks a goroutine of a victim at a point for good, and kills the victim
// when the others have done their work.
func stayAtPoint(t *testing.T, binary, ways, name string, nth int) (*tally, error) {
	v, err := newVictim(binary, ways, fmt.Sprintf("SCOPEVIEW_TESTPOINTS=%s:%d:park", name, nth), "SCOPEVIEW_TESTPOINTS_FD=1")
	if err != nil {
		return nil, err
	}
	defer v.close(t)
	var tooLate atomic.Bool
	late := time.AfterFunc(20*time.Second, func() { tooLate.Store(true); _ = v.cmd.Process.Kill() })
	defer late.Stop()
	if err := v.says(name); err != nil {
		return nil, err
	}
	ended := func() (n uint64) {
		for w := range v.workers {
			n += v.workers[w].ended.Load()
		}
		return n
	}
	// If the flusher is parked they can't continue for ever, and count lost records.
	for from, lost := ended(), v.lost.Load(); ended() < from+100_000 && v.lost.Load() < lost+200; time.Sleep(time.Millisecond) {
		if tooLate.Load() {
			_ = v.cmd.Wait()
			return nil, fmt.Errorf("while one stays at %s the others did %d", name, ended()-from)
		}
	}
	if err := v.cmd.Process.Kill(); err != nil {
		return nil, err
	}
	_ = v.cmd.Wait()
	return v.check(false)
}
