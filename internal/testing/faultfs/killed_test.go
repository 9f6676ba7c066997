//go:build linux && !scope_off

package faultfs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
)

// TestG34 kills programs that lose records at full speed. What is in the trace, what was
// lost and what was overwritten are all that was issued: but for one record of each
// worker, which was at it when the kill came. On the heap, and where what was in memory
// is gone with its container, the trace says from when on that is not known.
func TestG34(t *testing.T) {
	kills := 2
	if faultfs.Full() {
		kills = 40
	}
	for _, loss := range []struct {
		name string
		c    victim.Config
		why  format.Loss
	}{
		{"limit", victim.Config{Limit: 2 << 20}, format.LossLimit},
		{"burst", victim.Config{Limit: scope.NoLimit}, format.LossBuffer},
		{"ring", victim.Config{Ring: 4 << 20}, format.LossWindow},
	} {
		t.Run(loss.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing string) {
				issued, lost, missing := int64(0), int64(0), int64(0)
				for k := range kills {
					t.Run("", func(t *testing.T) {
						c := loss.c
						c.Path, c.Backing, c.Workers, c.Pause, c.FlushEvery = filepath.Join(t.TempDir(), "t.scope"), backing, 2, -1, time.Second
						v := victim.Start(t, c)
						n := uint64(100_000 + 77_777*k)
						v.Until(t, "scopes", func() bool { return v.Ended() > n && (loss.why != format.LossLimit || v.Lost().Limit > int64(n)) })
						v.Kill(t)
						hot := ""
						if backing == "shm" {
							hot = v.Hot()
						}
						f := v.Check(t, c.Path)
						total := int64(0)
						for why, n := range f.Lost {
							if why != format.LossEnd {
								total += n
							}
						}
						off := f.Issued - (f.Events - f.Mentioned) - f.Overwritten - total
						issued, lost, missing = issued+f.Issued, lost+total, missing+off
						switch known := whole(t, c.Path); {
						case known != (backing != "heap"):
							t.Errorf("the trace says that it knows all losses: %t", known)
						case known && (off < -slackOf(&c) || off > int64(c.Workers)):
							t.Errorf("%v, lost %v: %d are missing", f, f.Lost, off)
						}
						if hot != "" {
							if err := os.Remove(hot); err != nil {
								t.Fatal(err)
							}
							if whole(t, c.Path) {
								t.Error("without its hot file the trace says that it knows all losses")
							}
						}
					})
				}
				t.Logf("G34: %s on %s: %d kills, %d issued, %d lost, %d missing of what should be known", loss.name, backing, kills, issued, lost, missing)
			})
		})
	}
}

// slackOf returns the maximum surplus in a ring's count of overwritten records after it was
// killed while it overwrote: those of the chunks that it had counted and not zeroed yet.
func slackOf(c *victim.Config) int64 {
	if c.Ring == 0 {
		return 0
	}
	return c.Ring / format.RecordSize
}

// whole reports whether the trace states that all losses are known.
func whole(t *testing.T, path string) bool {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	until, all := tr.LossesUntil()
	if until < 0 || until > tr.End() {
		t.Errorf("losses are known until %d, the trace ends at %d", until, tr.End())
	}
	return all
}
