//go:build linux && !scope_off && !scope_pure && !race

package record_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

// deaths are the ways in which a victim ends itself.
var deaths = map[string]func(t *truth){
	"exit":  func(*truth) { os.Exit(7) },
	"panic": func(*truth) { go panic("as planned") },
	"throw": func(*truth) { // by the runtime: no deferred function runs
		m := map[int]int{}
		for range 4 {
			go func() {
				for i := 0; ; i++ {
					m[i%8]++
				}
			}()
		}
	},
	"eat": func(*truth) {
		var eaten [][]byte
		for {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			eaten = append(eaten, b)
			runtime.KeepAlive(eaten)
		}
	},
	"stop": func(t *truth) {
		if err := Stop(); err != nil {
			fmt.Println(err)
		}
		t.stopped.Store(1)
		os.Exit(0)
	},
}

// TestG15Death: programs that die by other causes than a kill leave what
// TestG15Kill promises.
func TestG15Death(t *testing.T) {
	faultfs.Children(t)
	runs := 1
	if faultfs.Full() {
		runs = 4
	}
	var lines []string
	for _, death := range []struct {
		name string
		want func(ws syscall.WaitStatus) bool
		says string
	}{
		{"exit", func(ws syscall.WaitStatus) bool { return ws.ExitStatus() == 7 }, ""},
		{"panic", func(ws syscall.WaitStatus) bool { return ws.ExitStatus() == 2 }, "panic: as planned"},
		{"throw", func(ws syscall.WaitStatus) bool { return ws.ExitStatus() == 2 }, "fatal error: concurrent map"},
		{"eat", func(ws syscall.WaitStatus) bool { return ws.Signal() == syscall.SIGKILL }, ""},
		{"stop", func(ws syscall.WaitStatus) bool { return ws.ExitStatus() == 0 }, ""},
	} {
		for _, b := range killProof {
			for _, mode := range []string{"plain", "ring"} {
				t.Run(fmt.Sprintf("%s/%s/%s", death.name, mode, b.name), func(t *testing.T) {
					var sum tally
					var oom *faultfs.Memory
					if death.name == "eat" {
						oom = faultfs.MemoryGroup(t, 64<<20)
					}
					for i := range runs {
						v, err := newVictim(os.Args[0], fmt.Sprintf("%s backing=%d pace=256 %s=3000", mode, b.kind, death.name))
						if err != nil {
							t.Fatal(err)
						}
						if err := v.says("running"); err != nil {
							t.Fatal(err)
						}
						if oom != nil { // not earlier: Start refuses shm with so little memory
							oom.Add(t, v.cmd.Process.Pid)
						}
						_ = v.cmd.Wait()
						if ws := v.cmd.ProcessState.Sys().(syscall.WaitStatus); !death.want(ws) || !strings.Contains(v.err.String(), death.says) {
							t.Errorf("it ended by %v: %s", v.cmd.ProcessState, v.err.String())
						}
						if oom != nil && oom.Kills(t) != int64(i+1) {
							t.Errorf("the kernel has killed %d, want %d", oom.Kills(t), i+1)
						}
						one, err := v.check(false)
						v.close(t)
						if err != nil {
							t.Fatal(err)
						}
						if one.ended < 3000 {
							t.Errorf("%d scopes had ended", one.ended)
						}
						sum.add(one)
					}
					lines = append(lines, fmt.Sprintf("%s (%s, %s): %d runs, %d ended, %d overwritten, %d of the rest there, %d missing, %d ends lost",
						death.name, mode, b.name, sum.runs, sum.ended, sum.over, sum.owed-sum.behind, sum.behind, sum.ends))
				})
			}
		}
	}
	t.Logf("G15: %s", strings.Join(lines, "; "))
}
