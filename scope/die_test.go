//go:build linux && !scope_off && !scope_pure && !race

package scope

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// deaths are the ways in which a victim dies by itself.
var deaths = map[string]func(t *truth){
	"exit":  func(*truth) { os.Exit(7) },
	"panic": func(*truth) { go panic("as it was told") },
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

// TestG15Death has programs die by other causes than a kill: each leaves what
// TestG15Kill promises.
func TestG15Death(t *testing.T) {
	runs := 1
	if fullFaults() {
		runs = 20
	}
	var told []string
	for _, death := range []struct {
		name string
		want func(ws syscall.WaitStatus) bool
		says string
	}{
		{"exit", func(ws syscall.WaitStatus) bool { return ws.ExitStatus() == 7 }, ""},
		{"panic", func(ws syscall.WaitStatus) bool { return ws.ExitStatus() == 2 }, "panic: as it was told"},
		{"throw", func(ws syscall.WaitStatus) bool { return ws.ExitStatus() == 2 }, "fatal error: concurrent map"},
		{"eat", func(ws syscall.WaitStatus) bool { return ws.Signal() == syscall.SIGKILL }, ""},
		{"stop", func(ws syscall.WaitStatus) bool { return ws.ExitStatus() == 0 }, ""},
	} {
		for _, b := range killProof {
			for _, mode := range []string{"plain", "ring"} {
				t.Run(fmt.Sprintf("%s/%s/%s", death.name, mode, b.name), func(t *testing.T) {
					var sum tally
					for range runs {
						v, err := newVictim(os.Args[0], fmt.Sprintf("%s backing=%d pace=256 %s=3000", mode, b.kind, death.name))
						if err != nil {
							t.Fatal(err)
						}
						var oom func() int
						if death.name == "eat" {
							oom = confine(t, v, 64<<20)
						}
						if err := v.says("running"); err != nil {
							t.Fatal(err)
						}
						_ = v.cmd.Wait()
						if ws := v.cmd.ProcessState.Sys().(syscall.WaitStatus); !death.want(ws) || !strings.Contains(v.err.String(), death.says) {
							t.Errorf("it ended by %v: %s", v.cmd.ProcessState, v.err.String())
						}
						if oom != nil && oom() == 0 {
							t.Error("the kernel's killer was not there")
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
					told = append(told, fmt.Sprintf("%s (%s, %s): %d runs, %d ended, %d overwritten, %d of the rest there, %d missing, %d ends lost",
						death.name, mode, b.name, sum.runs, sum.ended, sum.over, sum.owed-sum.behind, sum.behind, sum.ends))
				})
			}
		}
	}
	t.Logf("G15: %s", strings.Join(told, "; "))
}

// confine puts the victim into a memory cgroup of its own. The function that it
// returns tells how many processes in it the kernel has killed, and removes it.
func confine(t *testing.T, v *victimRun, bytes int) func() int {
	t.Helper()
	give := func(err error) {
		_ = v.cmd.Process.Kill()
		_ = v.cmd.Wait()
		v.close(t)
		t.Skipf("a memory cgroup can't be had: %v", err)
	}
	name := "scopeview-test-" + strconv.Itoa(v.cmd.Process.Pid)
	dir, limit, events := filepath.Join("/sys/fs/cgroup/memory", name), "memory.limit_in_bytes", "memory.oom_control"
	if _, err := os.Stat(filepath.Dir(dir)); err != nil {
		dir, limit, events = filepath.Join("/sys/fs/cgroup", name), "memory.max", "memory.events"
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		give(err)
	}
	for _, set := range [][2]string{{limit, strconv.Itoa(bytes)}, {"cgroup.procs", strconv.Itoa(v.cmd.Process.Pid)}} {
		if err := os.WriteFile(filepath.Join(dir, set[0]), []byte(set[1]), 0); err != nil {
			_ = os.Remove(dir)
			give(err)
		}
	}
	return func() (killed int) {
		b, err := os.ReadFile(filepath.Join(dir, events))
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(string(b)) {
			if n, ok := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); ok {
				killed, _ = strconv.Atoi(n)
			}
		}
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
		return killed
	}
}
