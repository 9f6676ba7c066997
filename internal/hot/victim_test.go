//go:build linux

package hot_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

func init() { victim.Main(nil) } // does not return in a victim

// start starts a victim that has a hot file.
func start(t *testing.T, c victim.Config) *victim.Victim {
	t.Helper()
	if victim.Backings()["shm"] == 0 {
		t.Skip("this build has no backing shm")
	}
	c.Path, c.Backing = filepath.Join(t.TempDir(), "x.scope"), "shm"
	return victim.Start(t, c)
}

// readAll opens a trace and reads all events; damage is an error.
func readAll(t *testing.T, path string) (events int64) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	if tr.LacksHotPart() {
		t.Error("the hot part is missing")
	}
	if err := tr.Events(trace.Options{}, func(*trace.Event) bool { events++; return true }); err != nil {
		t.Fatal(err)
	}
	for _, p := range tr.Problems() {
		if p.Damage() {
			t.Errorf("at %d, %d times: %s", p.Offset, p.Count, p.Text)
		}
	}
	return events
}

// TestG15Adopted: while chunks are copied and slots reused, and in a ring places too, a
// reader sees nothing that was not recorded, and follows without missing anything. After a
// kill the trace is complete, joined and adopted.
func TestG15Adopted(t *testing.T) {
	var said []string
	for name, ring := range map[string]int64{"all": 0, "a ring": 4 << 20} {
		t.Run(name, func(t *testing.T) {
			v := start(t, victim.Config{Ring: ring, FlushEvery: 10 * time.Millisecond, Workers: 3, Burst: 300})
			j, err := hot.Open(v.Path)
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			f, err := trace.NewFollower(j, j.Size, trace.FollowOptions{FromStart: true})
			if err != nil {
				t.Fatal(err)
			}
			followed, reads, behind := uint64(0), 0, int64(0)
			poll := func() {
				t.Helper()
				_, err := f.Poll(func(e *trace.Event) bool {
					if e.Kind == format.KindTask {
						followed++
					}
					return true
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			most := uint64(300_000)
			if faultfs.Full() {
				most = 3_000_000
			}
			v.Until(t, "the scopes", func() bool {
				ended := v.Ended()
				poll()
				behind = max(behind, int64(ended)-int64(followed))
				readAll(t, v.Path)
				reads++
				return ended > most || t.Failed()
			})
			v.Kill(t)
			poll()
			for _, p := range f.Problems() {
				if p.Damage() {
					t.Errorf("following, at %d, %d times: %s", p.Offset, p.Count, p.Text)
				}
			}
			joined := readAll(t, v.Path)
			found := v.Check(t, v.Path)
			// A killed writer may have counted events as overwritten that are still there.
			there := found.Events - found.Open + found.Overwritten
			if n := int64(followed); n > there || n < there && ring == 0 {
				t.Errorf("the follower delivered %d scopes, and there are %d", n, there)
			}
			// A ring this small has little room on a busy machine, and loses some events.
			if behind > 0 && found.AllLost == 0 && ring == 0 {
				t.Errorf("%d scopes had ended that the follower did not deliver at once", behind)
			}
			a, err := hot.Adopt(func() bool { return true })
			if err != nil || a.Traces != 1 {
				t.Fatalf("adopted %+v, %v", a, err)
			}
			if n := readAll(t, v.Path); n != joined {
				t.Errorf("adopted there are %d events, joined there were %d", n, joined)
			}
			v.Check(t, v.Path)
			said = append(said, fmt.Sprintf("%s: read %d times, killed, %d chunks adopted: %v, followed %d", name, reads, a.Chunks, found, followed))
		})
	}
	t.Logf("G15: shm, %s", strings.Join(said, "; "))
}
