//go:build !scope_off

package record_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	. "github.com/scopeview/scopeview/scope"
)

// TestG14: a child lists its descriptors and mappings during a recording: none is the
// recorder's. A forked child before its exec has none of the recording's memory
// either.
func TestG14(t *testing.T) {
	faultfs.Children(t)
	var lines []string
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		Task("a")()
		out, err := exec.Command("/bin/sh", "-c", "ls -l /proc/self/fd; cat /proc/self/maps").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, ours := range []string{record.Extension, "scopeview-", ".hot", "memfd", "perf_event"} {
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, ours) {
					t.Errorf("a child has %s", line)
				}
			}
		}
		smaps := filetest.Read(t, "/proc/self/smaps")
		mapped, forked := 0, 0
		ours := false
		for line := range bytes.Lines(smaps) {
			f := strings.Fields(string(line))
			switch {
			case len(f) > 5 && !strings.HasSuffix(f[0], ":"):
				ours = strings.HasSuffix(f[len(f)-1], record.Extension) || strings.HasSuffix(f[len(f)-1], ".hot")
			case len(f) <= 5 && len(f) > 0 && strings.Contains(f[0], "-"):
				ours = false
			case ours && f[0] == "VmFlags:":
				mapped++
				if !strings.Contains(string(line), " dc") { // dc: not copied on fork
					forked++
				}
			}
		}
		if mapped > 0 && forked > 0 {
			t.Errorf("of %d mappings of ours %d would be in a forked child", mapped, forked)
		}
		if pool := record.Current.Load().Pool(); !pool.Heap() && mapped == 0 {
			t.Error("no mapping of ours was found in this program")
		}
		lines = append(lines, fmt.Sprintf("%s: %d mappings, a forked child would have %d", t.Name(), mapped, forked))
	})
	t.Logf("G14: none of our descriptors and mappings in a child; %s", strings.Join(lines, "; "))
}
