package others

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sampled samples a program 997 times a second with perf, independently of the recorder, and
// returns the part of the samples in instructions of recording, with its standard deviation:
// those of the recorder, and those inserted into functions.
func (c *checkout) sampled(program string, run func()) (summary string, part, sigma float64) {
	c.t.Helper()
	data := filepath.Join(c.t.TempDir(), "perf.data")
	perf := exec.Command("perf", "record", "-q", "-a", "-e", "cpu-clock", "-F", "997", "-o", data)
	if err := perf.Start(); err != nil {
		c.t.Fatal(err)
	}
	run()
	_ = perf.Process.Signal(os.Interrupt)
	_ = perf.Wait()        // exit status 130
	at := map[string]int{} // samples of each process by address, as in perf script
	ours := map[string]bool{}
	out := c.must("perf", "script", "-i", data, "-F", "pid,ip,dso").out
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		at[f[0]+" "+f[1]]++
		if f[2] == "("+program+")" {
			ours[f[0]] = true
		}
	}
	all, places := 0, map[string]int{}
	for where, n := range at {
		pid, ip, _ := strings.Cut(where, " ")
		if !ours[pid] {
			continue
		}
		all += n
		if !strings.HasPrefix(ip, "ffff") {
			places["0x"+ip] += n
		}
	}
	if all == 0 {
		c.t.Fatalf("perf has no sample of %s:\n%.2000s", program, out)
	}
	var in bytes.Buffer
	ips := make([]string, 0, len(places))
	for ip := range places {
		ips = append(ips, ip)
	}
	slices.Sort(ips)
	fmt.Fprintln(&in, strings.Join(ips, "\n"))
	resolve := exec.Command("go", "tool", "addr2line", program)
	resolve.Stdin = &in
	text, err := resolve.Output()
	if err != nil {
		c.t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	own, by := 0, map[string]int{}
	for i, ip := range ips {
		if function, place := lines[2*i], lines[2*i+1]; strings.Contains(function, "scopeview") || strings.HasPrefix(place, built.cache) {
			own += places[ip]
			if !strings.Contains(function, "scopeview") {
				function = "what is added to functions"
			}
			by[function[strings.LastIndexByte(function, '/')+1:]] += places[ip]
		}
	}
	most := slices.SortedFunc(maps.Keys(by), func(x, y string) int { return by[y] - by[x] })
	for i, name := range most {
		most[i] = fmt.Sprintf("%s %.1f", name, 100*float64(by[name])/float64(all))
	}
	part = float64(own) / float64(all)
	summary = fmt.Sprintf("%.1f %% of %d samples (%s)", 100*part, all, strings.Join(most[:min(len(most), 6)], ", "))
	return summary, part, math.Sqrt(part / float64(all))
}

// canSample reports whether perf may sample all processes here.
func canSample(t *testing.T) bool {
	t.Helper()
	return exec.Command("perf", "record", "-q", "-a", "-e", "cpu-clock", "-o", filepath.Join(t.TempDir(), "perf.data"), "true").Run() == nil
}
