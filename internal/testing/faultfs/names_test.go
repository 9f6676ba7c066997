//go:build linux

package faultfs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestKilledBeforeTheFirstRound kills programs before their flusher has had a round,
// when full chunks alone were written. What is in the file has its names: of the heap,
// and of shm where the memory is gone.
func TestKilledBeforeTheFirstRound(t *testing.T) {
	for _, backing := range []string{"heap", "shm"} {
		if victim.Backings()[backing] == 0 {
			continue
		}
		for _, size := range []int64{0, 16 << 20} {
			c := victim.Config{Path: filepath.Join(t.TempDir(), "x.scope"), Backing: backing, FlushEvery: time.Hour, Pause: -1}
			v := victim.Start(t, c)
			v.Until(t, "the file", func() bool {
				st, err := os.Stat(c.Path)
				return err == nil && st.Size() > size
			})
			hot := v.Hot()
			v.Kill(t)
			if hot != "" {
				if err := os.Remove(hot); err != nil {
					t.Fatal(err)
				}
			}
			tr := tracetest.OpenFile(t, c.Path)
			named, nameless := 0, 0
			for e := range tracetest.Events(t, tr, trace.Options{}) {
				if e.Kind != format.KindTask {
				} else if tr.Name(e.Name) == victim.Name {
					named++
				} else {
					nameless++
				}
			}
			if nameless > 0 || named == 0 && size > 0 {
				t.Errorf("%s, killed with %d bytes in the file: %d scopes have their name, %d have not", backing, size, named, nameless)
			}
		}
	}
}
