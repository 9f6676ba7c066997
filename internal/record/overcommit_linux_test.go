//go:build !scope_off

package record_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

const overcommit = "/proc/sys/vm/overcommit_memory"

var commitLimit = ownLimit{"commit 1225 MiB", commit, takeMemory, "", "", bigger, noMemory, true}

// TestG42Overcommit: a system that does not overcommit (overcommit_memory=2) leaves the program
// little memory: what a recording reserves, and does not use, does not count.
func TestG42Overcommit(t *testing.T) {
	faultfs.Children(t)
	if !faultfs.Full() {
		t.Skip("SCOPEVIEW_FAULT=full: it is all programs' setting")
	}
	if sys.Race || !record.HaveDisk {
		t.Skip("this build reserves other memory")
	}
	was, err := os.ReadFile(overcommit)
	if err != nil {
		t.Skip(err)
	}
	// The guard restores the setting, whatever ends this process.
	guard := exec.Command("/bin/sh", "-c", `cat; echo `+strings.TrimSpace(string(was))+` > `+overcommit)
	in, err := guard.StdinPipe()
	if err == nil {
		err = guard.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := guard.Wait(); err != nil {
			t.Errorf("%s is not what it was: %v", overcommit, err)
		}
	})
	f, err := os.OpenFile(overcommit, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("2")
		f.Close()
	}
	if err != nil {
		t.Skipf("overcommit_memory can't be set: %v", err)
	}
	if left := uncommitted(t); left < 4<<30 {
		t.Skipf("the machine has promised all but %d bytes: other programs need them", left)
	}
	for _, when := range []string{"before", "during", "after"} {
		tryOwn(t, &commitLimit, when, "")
	}
	twinOwn(t, &commitLimit)
}

// uncommitted returns how many bytes the system may still promise.
func uncommitted(t *testing.T) int64 {
	b := filetest.Read(t, "/proc/meminfo")
	kib := map[string]int64{}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 1 {
			kib[f[0]], _ = strconv.ParseInt(f[1], 10, 64)
		}
	}
	return (kib["CommitLimit:"] - kib["Committed_AS:"]) << 10
}

// commit leaves 1225 MiB uncommitted.
func commit(t *testing.T) {
	n := uncommitted(t) - 1225<<20
	if _, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE); err != nil {
		t.Fatalf("taking %d bytes: %v", n, err)
	}
}
