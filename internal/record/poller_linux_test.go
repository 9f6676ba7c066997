//go:build !scope_off

package record_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

// pollerChild in the environment makes the test binary a program that has not opened a file or
// set a timer yet: its value has the number of descriptors left, what it does, and the
// directory.
const pollerChild = "SCOPE_POLLER_CHILD"

func init() { // before package testing sets a timer
	v := os.Getenv(pollerChild)
	if v == "" {
		return
	}
	f := strings.Split(v, "\n")
	var spare uint64
	fmt.Sscan(f[0], &spare)
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
		n := uint64(fd) + spare
		err = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: n})
	}
	if err == nil && f[1] == "timer" {
		time.Sleep(time.Millisecond)
	}
	if err == nil && f[1] == "record" {
		if err := Start(f[2]); err != nil {
			fmt.Println("refused:", err)
			os.Exit(0)
		}
		for range 1000 {
			Task("f1")()
		}
		err = Stop()
	}
	fmt.Println("lived:", err, Stats().Recorded)
	os.Exit(0)
}

// TestG42Poller: Go exits if it gets no descriptor for its poller, which the first file or
// timer creates. A program that needs none survives with a recording, or Start reports too few
// descriptors. The twin sets a timer itself.
func TestG42Poller(t *testing.T) {
	faultfs.Children(t)
	run := func(spare int, what string) (string, error) {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d\n%s\n%s/", pollerChild, spare, what, t.TempDir()))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run(0, "none"); err != nil || !strings.HasPrefix(out, "lived") {
		t.Errorf("without a descriptor the program ended with %v\n%.2000s", err, out)
	}
	for spare, says := range []string{"epollcreate failed with 24", "eventfd failed with 24"} {
		if out, err := run(spare, "timer"); err == nil || !strings.Contains(out, says) {
			t.Errorf("the twin ended with %v, want %q\n%.2000s", err, says, out)
		}
	}
	recorded := 0
	for spare := range 16 {
		out, err := run(spare, "record")
		switch {
		case err != nil:
			t.Errorf("with %d descriptors left it ended with %v\n%.2000s", spare, err, out)
		case strings.HasPrefix(out, "lived: <nil> 1000"):
			recorded++
		case !strings.Contains(out, "too many open files"):
			t.Errorf("with %d descriptors left: %s", spare, out)
		}
	}
	if recorded == 0 {
		t.Error("none recorded")
	}
	t.Logf("G42: of 16 programs with 0 to 15 descriptors left and no poller yet all lived, %d recorded", recorded)
}
