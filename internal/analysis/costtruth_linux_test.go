//go:build !scope_off && !race

package analysis_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

func TestMain(m *testing.M) {
	if path, ok := os.LookupEnv("SCOPE_TEST_COST"); ok {
		os.Exit(costs(path))
	}
	os.Exit(shmtest.Run(m.Run))
}

// costs always does the same work, as a server does: pairs of goroutines that exchange
// values, with scopes around it. It prints the CPU time of that work.
func costs(path string) int {
	if path != "" {
		if err := scope.Start(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	const pairs, rounds = 4, 100_000
	done := make(chan bool)
	for range pairs {
		ask, answer := make(chan int), make(chan int)
		go func() {
			for i := range ask {
				end := scope.Task("answer", i)
				answer <- work(i)
				end()
			}
		}()
		go func() {
			for i := range rounds {
				end := scope.Task("ask")
				for range 4 {
					scope.Task("step")()
				}
				ask <- i
				<-answer
				end()
			}
			close(ask)
			done <- true
		}()
	}
	for range pairs {
		<-done
	}
	if path != "" {
		if err := scope.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	cpu, _ := sys.ProcessClock()
	fmt.Println(cpu)
	return 0
}

var table [1 << 20]byte

func work(n int) (sum int) {
	for i := range 200 {
		sum += int(table[(n*7919+i*4093)%len(table)])
	}
	return sum
}

// TestRecordingCostIsAtLeastThat compares the reported cost with the CPU time of the same
// program without a recording.
func TestRecordingCostIsAtLeastThat(t *testing.T) {
	if !faultfs.Full() {
		t.Skip("compares CPU times of programs; SCOPEVIEW_FAULT=full")
	}
	run := func(path string) float64 {
		t.Helper()
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "SCOPE_TEST_COST="+path)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		ns, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			t.Fatal(err)
		}
		return ns
	}
	without, with, reported, text := 1e18, 1e18, 0.0, ""
	for i := range 7 { // alternating, and the least of each
		without = min(without, run(""))
		path := fmt.Sprintf("%s/%d.scope", t.TempDir(), i)
		ns := run(path)
		if ns >= with {
			continue
		}
		with = ns
		tr, err := trace.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := analysis.RecordingCost(tr.Beats())
		measured, _ := c.Share(c.Measured)
		estimated, _ := c.Share(c.Estimated)
		reported, text = measured+estimated, analysis.CostText(tr, c)
		tr.Close()
	}
	took := 100 * (with - without) / with
	t.Logf("%.0f ms without, %.0f with: %.1f %%; reported: %s", without/1e6, with/1e6, took, text)
	if reported > took+2 {
		t.Errorf("reported %.1f %% at least, and it was %.1f", reported, took)
	}
	if reported < took/4 {
		t.Errorf("reported %.1f %% at least, which is little of %.1f", reported, took)
	}
}
