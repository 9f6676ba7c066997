//go:build !scope_off

package record_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

const bubbleWay = "SCOPE_BUBBLE" // the case for TestBubbleVictim

// TestG38Bubble starts, uses and stops recordings around and inside of bubbles of
// testing/synctest, in a child, because mistakes there are fatal.
func TestG38Bubble(t *testing.T) {
	faultfs.Children(t)
	for _, c := range []struct {
		way, want string
		fails     bool
	}{
		{way: "start"},
		{way: "record"},
		{way: "deadlock", fails: true, want: "deadlock: "},
		{way: "started deadlock", fails: true, want: "deadlock: "},
	} {
		t.Run(c.way, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestBubbleVictim$", "-test.v", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), bubbleWay+"="+c.way)
			out, err := cmd.CombinedOutput()
			if s := string(out); (err != nil) != c.fails || !strings.Contains(s, c.want) ||
				strings.Contains(s, "fatal error") || strings.Contains(s, "timed out") {
				t.Errorf("%v\n%.4000s", err, s)
			}
			t.Logf("G38: synctest: %s: it ended as it has to (%v)", c.way, err)
		})
	}
}

// TestBubbleVictim is the child.
func TestBubbleVictim(t *testing.T) {
	way := os.Getenv(bubbleWay)
	if way == "" {
		t.Skip("is run by TestG38Bubble")
	}
	dir := t.TempDir()
	refused := func(what string, err error) {
		if !errors.Is(err, ErrBubble) || !strings.Contains(err.Error(), "TestMain") {
			t.Errorf("%s in a bubble: %v", what, err)
		}
	}
	starting := func() {
		refused("Start", Start(dir))
		if list, _ := os.ReadDir(dir); len(list) != 0 {
			t.Errorf("Start in a bubble left %v", list)
		}
	}
	switch way {
	case "start":
		synctest.Test(t, func(t *testing.T) {
			starting()
			Task("not recorded")()
		})
		perBacking(t, func(t *testing.T, backing Option) {
			start(t, backing)
			Task("a")()
			synctest.Test(t, func(t *testing.T) { refused("Start", Start(dir)) })
			if got := fmt.Sprint(stop(t).lines()); got != `[task "a"]` {
				t.Errorf("recorded %s", got)
			}
		})
	case "record":
		perBacking(t, recordInBubble(refused))
	case "deadlock":
		start(t, shortTicks())
		synctest.Test(t, func(t *testing.T) {
			defer Task("a")()
			<-make(chan int)
		})
	case "started deadlock":
		synctest.Test(t, func(t *testing.T) {
			starting()
			<-make(chan int)
		})
	}
}

// recordInBubble records, in a bubble, more than its first chunks hold, over a day
// of the bubble's time, in a ring with a trigger, which the first scope fires.
func recordInBubble(refused func(what string, err error)) func(t *testing.T, backing Option) {
	const workers, each = 4, 2000
	return func(t *testing.T, backing Option) {
		slow := t.TempDir()
		start(t, backing, WithRing(8<<20), WithTrigger("slow", time.Millisecond, slow), shortTicks(), WithHeartbeat(10*time.Millisecond))
		if !record.Current.Load().Clock().Counter() {
			stop(t)
			t.Skip("the clock is the bubble's: " + record.Current.Load().Clock().Reason)
		}
		begin := time.Now()
		synctest.Test(t, func(t *testing.T) {
			end := Task("slow")
			for from, r := record.Current.Load().Clock().Now(), record.Current.Load(); r.Clock().Now()-from < r.Ticks(2*time.Millisecond); {
			}
			end()
			var mu Mutex
			var wg sync.WaitGroup
			for i := range workers {
				wg.Add(1)
				Go(fmt.Sprint("worker ", i), func() {
					defer wg.Done()
					for range each {
						Task("a", i)()
						mu.Lock()
						mu.Unlock()
					}
					time.Sleep(24 * time.Hour)
				})
			}
			wg.Wait()
			Stack("stack", 1)
			Counter("counter", 1)
			if err := SetFilter("-b"); err != nil {
				t.Error(err)
			}
			Task("b")()
			refused("Stop", Stop())
			refused("Snapshot", Snapshot(slow))
			if s := Stats(); !s.Running {
				t.Error("no recording any more")
			}
		})
		if d := time.Since(begin); d > 20*time.Second {
			t.Errorf("a day in a bubble took %v", d)
		}
		until(t, "a triggered snapshot", func() bool {
			list, _ := filepath.Glob(filepath.Join(slow, "*-slow-*"))
			return len(list) == 1
		})
		r := stop(t)
		verify(t, Path())
		count := map[string]int{}
		for _, e := range r.events {
			count[e.name]++
		}
		if lost := Stats().Lost.Total(); count["a"]+int(lost) < workers*each || lost == 0 && count["a"] != workers*each || count["b"] != 0 || count["counter"] != 1 {
			t.Errorf("recorded %v, lost %d", count, lost)
		}
	}
}
