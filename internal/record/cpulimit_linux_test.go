//go:build !scope_off

package record_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// cpuChild in the environment makes the test binary a program with little CPU: its value has the
// recording, and the directory.
const cpuChild = "SCOPE_CPU_CHILD"

// TestG37CPU records in a cgroup that gets a tenth of a CPU, or one CPU and then another: from
// the start or from a moment during the recording. The program does its work as without a
// recording, and each record is recorded or counted. The twin, which does not record, has the
// same limit.
func TestG37CPU(t *testing.T) {
	if v := os.Getenv(cpuChild); v != "" {
		slowed(t, strings.Split(v, "\n"))
		return
	}
	faultfs.Children(t)
	if sys.Race || !record.HaveDisk {
		t.Skip("this build takes many times the CPU time")
	}
	for _, c := range []struct {
		name, controller string
		when             string
		limit            func(t *testing.T, g *faultfs.CPU, again bool)
		share            float64 // of a CPU, maximum
	}{
		{"quota", "cpu", "before", func(t *testing.T, g *faultfs.CPU, again bool) { g.Quota(t, 100) }, .3},
		{"quota", "cpu", "during", func(t *testing.T, g *faultfs.CPU, again bool) { g.Quota(t, 100) }, .7},
		{"set", "cpuset", "before", oneCPU, 1.05},
		{"set", "cpuset", "during", oneCPU, 1.5},
	} {
		t.Run(c.name+"/"+c.when, func(t *testing.T) {
			if runtime.NumCPU() < 2 && c.controller == "cpuset" {
				t.Skip("there is one CPU")
			}
			if !faultfs.Full() && c.when == "before" {
				t.Skip("SCOPEVIEW_FAULT=full")
			}
			g := faultfs.CPUGroup(t, c.controller)
			var without cpuStats
			for _, r := range ownRecordings("") {
				if !faultfs.Full() && r.name != "none" && r.name != "default" {
					continue
				}
				stats := runSlowed(t, g, c.when == "before", r.name, c.limit)
				t.Logf("G37: CPU: %s, %s: %s: %+v", c.name, c.when, r.name, stats)
				if r.name == "none" {
					if without = stats; stats.Share > c.share {
						t.Errorf("the twin had %.2f of a CPU, it is limited to less", stats.Share)
					}
					continue
				}
				if stats.Work != without.Work || stats.Issued == 0 || stats.Recorded+stats.Overwritten+stats.Lost != stats.Issued {
					t.Errorf("%s: %+v, and without a recording %+v", r.name, stats, without)
				}
				if most := 3*without.Seconds + 3; stats.Seconds > most {
					t.Errorf("%s: it took %.1f s, and %.1f s without a recording", r.name, stats.Seconds, without.Seconds)
				}
				each(t, stats.Path, func(*trace.Trace, *trace.Event) {})
			}
		})
	}
}

func oneCPU(t *testing.T, g *faultfs.CPU, again bool) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	n := 0
	for !all.IsSet(n) {
		n++
	}
	if again {
		for n++; !all.IsSet(n); n++ {
		}
	}
	g.CPUs(t, fmt.Sprint(n))
}

// cpuStats is the program's output.
type cpuStats struct {
	Path                                string `json:",omitempty"`
	Work                                string
	Issued, Recorded, Overwritten, Lost int64
	Seconds, Share                      float64 // duration of the work, and CPUs used
}

func runSlowed(t *testing.T, g *faultfs.CPU, before bool, recording string, limit func(*testing.T, *faultfs.CPU, bool)) (stats cpuStats) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestG37CPU$")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2", cpuChild+"="+recording+"\n"+t.TempDir()+"/")
	in, pipe, says := started(t, cmd)
	defer cmd.Wait()
	defer cmd.Process.Kill()
	out := bufio.NewReader(pipe)
	for _, step := range []string{"ready\n", "half\n"} {
		if line, err := out.ReadString('\n'); line != step {
			t.Fatalf("it said %q: %v\n%.2000s", line, err, says)
		}
		if step == "ready\n" {
			g.Add(t, cmd.Process.Pid)
		}
		if before || step == "half\n" {
			limit(t, g, step == "half\n")
		}
		io.WriteString(in, "on\n")
	}
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the program ended with %v\n%s\n%.2000s", err, rest, says)
	}
	if err := json.Unmarshal(rest, &stats); err != nil {
		t.Fatalf("%v\n%s", err, rest)
	}
	return stats
}

func slowed(t *testing.T, f []string) {
	in := bufio.NewReader(os.Stdin)
	step := func(text string) {
		fmt.Println(text)
		_, _ = in.ReadString('\n')
	}
	step("ready")
	var stats cpuStats
	began, cpu := time.Now(), cpuTime()
	if f[0] != "none" {
		recordings := ownRecordings(f[1])
		i := slices.IndexFunc(recordings, func(r ownRecording) bool { return r.name == f[0] })
		if err := Start(f[1], append(recordings[i].options, shortTicks(), WithHeartbeat(20*time.Millisecond))...); err != nil {
			t.Fatal(err)
		}
	}
	var sum atomic.Int64
	work := func() {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for range 20_000 {
					end := Task("f1")
					n := int64(0)
					for i := range int64(1000) {
						n += i % 7
					}
					sum.Add(n)
					end()
				}
			})
		}
		wg.Wait()
		stats.Issued += 40_000
	}
	work()
	step("half")
	work()
	stats.Work = fmt.Sprint(sum.Load())
	if f[0] != "none" {
		finish(t)
	}
	stats.Seconds = time.Since(began).Seconds()
	stats.Share = (cpuTime() - cpu) / stats.Seconds
	s := Stats()
	stats.Path, stats.Recorded, stats.Overwritten, stats.Lost = Path(), s.Recorded, s.Overwritten, s.Lost.Total()
	text, _ := json.Marshal(stats)
	fmt.Println(string(text))
	os.Exit(0)
}

// cpuTime returns the process's CPU time, in seconds.
func cpuTime() float64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
