//go:build linux && !scope_off && !scope_pure && !race

package record_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

const lockVictim = "SCOPE_LOCK_VICTIM"

// TestKilledWhileTheyWait kills a program that waits for a lock, for one that it
// holds itself, and in a loop. The trace has all three waits, open, and the holders.
func TestKilledWhileTheyWait(t *testing.T) {
	if path := os.Getenv(lockVictim); path != "" {
		t.Fatal(waitForEver(path))
	}
	faultfs.Children(t)
	for _, b := range []struct {
		name string
		kind BackingKind
	}{{"disk", DiskBacking}, {"shm", ShmBacking}} {
		t.Run(b.name, func(t *testing.T) {
			path := t.TempDir() + "/x.scope"
			c := exec.Command(os.Args[0], "-test.run=^TestKilledWhileTheyWait$")
			c.Env = append(os.Environ(), fmt.Sprintf("%s=%d%s", lockVictim, b.kind, path))
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Wait()
			defer c.Process.Kill()
			line, _ := bufio.NewReader(out).ReadString('\n')
			fields := strings.Fields(line) // the holder, the waiter, the one that waits for its own lock; the first and the last as recorded in a wait
			if len(fields) != 5 {
				t.Fatalf("the victim says %q", line)
			}
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			c.Wait()
			r := read(t, path)
			var got []string
			for i, l := range r.locks() {
				open := ""
				if l.open {
					open = " open"
				}
				got = append(got, fmt.Sprintf("%v %s%s: %d by %d", l.kind, l.name, open, l.holder, r.events[i].Goid))
			}
			want := []string{
				"wait l open: " + fields[3] + " by " + fields[1],
				"wait loop open: 0 by " + fields[0],
				"wait self open: " + fields[4] + " by " + fields[2],
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("the trace has %q, want %q", got, want)
			}
		})
	}
}

// waitForEver records until it is killed.
func waitForEver(what string) error {
	kind, err := strconv.Atoi(what[:1])
	if err == nil {
		err = Start(what[1:], WithBacking(BackingKind(kind)))
	}
	if err != nil {
		return err
	}
	l, self := &Mutex{Name: "l"}, &Mutex{Name: "self"}
	l.Lock()
	ids := make(chan uint64)
	go func() {
		ids <- goid()
		l.Lock()
	}()
	wants := <-ids
	go func() {
		self.Lock()
		ids <- goid()
		self.Lock()
	}()
	wantsOwn := <-ids
	for deadline := time.Now().Add(20 * time.Second); waiters(stateOf(l)) < 1 || waiters(stateOf(self)) < 1; {
		if time.Now().After(deadline) {
			return errors.New("nobody waits")
		}
		time.Sleep(time.Millisecond)
	}
	r := Retry("loop")
	for !retriesOf(&r).Begun() {
		r.Again()
	}
	fmt.Println(goid(), wants, wantsOwn, wantedHolder(goid()), wantedHolder(wantsOwn))
	select {}
}
