//go:build linux && !scope_off

package faultfs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/faultfs"
	"github.com/scopeview/scopeview/internal/faultfs/victim"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestG18 cuts the power: of the file system is left what had reached the device, as
// its journal tells; of what is in memory, nothing. What is there must have been
// issued; how much is missing is measured, since nobody promises it: no recording
// waits for a disk, and none asks it to write at once.
func TestG18(t *testing.T) {
	quiet(t)
	runs, commits := 3*time.Second, []string{"commit=1"}
	if faultfs.Full() {
		runs, commits = 10*time.Second, []string{"commit=1", "commit=5", "commit=1000"}
	}
	for _, commit := range commits {
		t.Run(commit, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing string) {
				fs := faultfs.Ext4(t, 256<<20, commit)
				path := in(fs)
				c := victim.Config{Path: path, Backing: backing, Workers: 4, Burst: 32, Pause: 10 * time.Millisecond, FlushEvery: time.Second}
				v := victim.Start(t, c)
				begin := time.Now()
				var old [4]uint64 // had ended two seconds before
				v.Until(t, "some time to pass", func() bool {
					if time.Since(begin) < runs-2*time.Second {
						for w := range old {
							old[w] = v.KeptEndedBy(w)
						}
					}
					return time.Since(begin) > runs
				})
				hot := hotFile(t, path)
				fs.Shutdown(t, faultfs.PowerCut)
				v.Kill(t)
				if hot != "" {
					os.Remove(hot)
				}
				fs.Remount(t)

				tr, err := trace.OpenFile(path)
				if err != nil {
					t.Logf("G18: not given: %s, %s: power cut after %v: nothing can be read: %v", backing, commit, runs, err)
					return
				}
				defer tr.Close()
				var found [4]map[uint64]bool
				for w := range found {
					found[w] = map[uint64]bool{}
				}
				n := 0
				if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
					if tr.Name(e.Name) != victim.Name && len(e.Args) != 2 {
						return true
					}
					w, k := e.Args[0].Value, e.Args[1].Value
					if w >= 4 || k >= v.BegunBy(int(w)) || found[w][k] {
						t.Errorf("scope %d of worker %d, which began %d", k, w, v.BegunBy(int(w)))
						return false
					}
					found[w][k] = true
					n++
					return true
				}); err != nil {
					t.Error(err)
				}
				missing, of := uint64(0), uint64(0)
				for w := range found {
					of += old[w]
					for k := range old[w] {
						if !found[w][k] {
							missing++
						}
					}
				}
				verdict := ""
				if missing > 0 {
					verdict = "not given: "
				}
				t.Logf("G18: %s%s, %s: power cut after %v: of %d scopes that were older than 2 s %d are missing; %d issued, %d are there, none that was not issued",
					verdict, backing, commit, runs, of, missing, v.Begun(), n)
			})
		})
	}
}

// hotFile is where a trace's newest records are in memory; empty: nowhere.
func hotFile(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, format.StateOffset)
	n, _ := f.ReadAt(b, 0)
	h, _, err := format.DecodeHeader(b[:n])
	if err != nil || h.Backing != format.BackingShm {
		return ""
	}
	return filepath.Join("/dev/shm", format.HotName(h.ID))
}
