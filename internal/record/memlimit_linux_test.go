//go:build !scope_off

package record_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// memoryChild in the environment makes the test binary a program in a small container:
// its value has the time when memory gets scarce, the backing, how many MiB it needs for
// itself, and the directory.
const memoryChild = "SCOPE_MEMORY_CHILD"

// TestG37Memory records at full speed in a container whose memory is nearly all the
// program's own: before the recording begins, from a moment during it because the program
// grows or the limit is lowered, or after it. The program survives, and each record is
// recorded or counted.
func TestG37Memory(t *testing.T) {
	if v := os.Getenv(memoryChild); v != "" {
		crowded(t, strings.Split(v, "\n"))
		return
	}
	faultfs.Children(t)
	if sys.Race {
		t.Skip("the race detector takes several times what the program needs")
	}
	for _, c := range []struct {
		backing string
		when    string
		limit   int64 // MiB
		needs   int64 // of that, used by the program
		always  bool
	}{
		{"heap", "before", 64, 20, true},
		{"heap", "grown", 128, 96, false},
		{"heap", "lowered", 128, 40, false},
		{"heap", "after", 128, 96, false},
		{"shm", "before", 512, 483, false},
		{"shm", "before", 1024, 950, false},
		{"shm", "grown", 512, 470, false},
		{"shm", "lowered", 512, 400, false},
		{"shm", "after", 512, 470, false},
		{"tmpfs", "before", 128, 40, false},
		{"tmpfs", "grown", 256, 120, true},
		{"tmpfs", "lowered", 128, 40, false},
		{"tmpfs", "after", 256, 120, false},
		{"tmpfs ring", "before", 64, 20, false},
		{"disk", "before", 128, 96, false},
		{"disk", "grown", 128, 96, false},
		{"default", "before", 64, 20, false},
		{"default", "before", 512, 483, true},
		{"default", "grown", 512, 470, false},
		{"ring", "grown", 512, 470, false},
		{"ring", "lowered", 512, 400, false},
		{"segments", "grown", 512, 470, false},
		{"gotrace", "grown", 512, 440, false},
		{"trigger", "grown", 512, 440, false},
		{"none", "before", 64, 40, true},   // the twin without a recording, which survives too
		{"none", "before", 64, 100, true},  // one that needs more than there is
		{"none", "grown", 512, 530, false}, // likewise
	} {
		if !c.always && !faultfs.Full() {
			continue
		}
		t.Run(c.backing+"/"+c.when, func(t *testing.T) {
			if !record.HaveDisk && (c.backing == "shm" || c.backing == "disk") {
				t.Skip("this build maps nothing: " + record.NoDisk)
			}
			dir := t.TempDir()
			if strings.HasPrefix(c.backing, "tmpfs") {
				dir = faultfs.Tmpfs(t, 2<<30).Dir
			}
			limit := c.limit << 20
			if c.when == "lowered" {
				limit *= 2
			}
			m := faultfs.MemoryGroup(t, limit)
			cmd := exec.Command(os.Args[0], "-test.run=^TestG37Memory$")
			cmd.Env = append(os.Environ(), memoryChild+"="+strings.Join([]string{c.when, c.backing, fmt.Sprint(c.needs), dir}, "\n"))
			in, pipe, says := started(t, cmd)
			defer cmd.Process.Kill()
			m.Add(t, cmd.Process.Pid)
			io.WriteString(in, "in\n")
			out := bufio.NewReader(pipe)
			if c.when == "lowered" {
				if line, err := out.ReadString('\n'); line != "lower\n" {
					t.Fatalf("%q, %v, killed %d times", line, err, m.Kills(t))
				}
				m.Limit(t, c.limit<<20)
				io.WriteString(in, "lowered\n")
			}
			rest, _ := io.ReadAll(out)
			err := cmd.Wait()
			if c.needs > c.limit {
				if err == nil || m.Kills(t) == 0 {
					t.Errorf("the program lives with %d MiB in %d: %v", c.needs, c.limit, err)
				}
				return
			}
			if err != nil {
				t.Fatalf("the program ended with %v, the kernel killed %d times, %d MiB at most\n%s%s", err, m.Kills(t), m.Peak(t)>>20, rest, says)
			}
			var stats memoryStats
			if err := json.Unmarshal(rest, &stats); err != nil {
				t.Fatalf("%v\n%s", err, rest)
			}
			t.Logf("G37: %s: %d MiB of %d are the program's: %+v, at most %d MiB, %d of it cache", strings.TrimPrefix(t.Name(), "TestG37Memory/"), c.needs, c.limit, stats, m.Peak(t)>>20, m.Cache(t)>>20)
			if stats.Refused == "" && c.backing != "none" {
				if stats.Recorded+stats.Overwritten+stats.Lost != stats.Issued || stats.Recorded == 0 {
					t.Errorf("%+v: not what was issued", stats)
				}
				each(t, stats.Path, func(*trace.Trace, *trace.Event) {})
			}
		})
	}
}

// memoryStats is the program's output.
type memoryStats struct {
	Path, Refused, Error, Backing       string `json:",omitempty"`
	Issued, Recorded, Overwritten, Lost int64
}

func crowded(t *testing.T, f []string) {
	when, backing, dir := f[0], f[1], f[3]
	var needs int
	fmt.Sscan(f[2], &needs)
	in := bufio.NewReader(os.Stdin)
	_, _ = in.ReadString('\n')
	var own [][]byte
	grow := func() {
		for n := len(own); n < needs; n++ {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			own = append(own, b)
			if when == "grown" && n%8 == 0 {
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	if when == "before" || when == "lowered" {
		grow()
	}
	options := map[string][]Option{
		"heap":       {WithBacking(HeapBacking)},
		"shm":        {WithBacking(ShmBacking)},
		"disk":       {WithBacking(DiskBacking)},
		"tmpfs ring": {WithRing(64 << 20)},
		"ring":       {WithRing(64 << 20)},
		"segments":   {WithSegments(16<<20, 4)},
		"gotrace":    {gotrace.With()},
		"trigger":    {WithRing(64 << 20), WithTrigger("f1", time.Hour, dir)},
	}[backing]
	var stats memoryStats
	finish := func() {
		b, _ := json.Marshal(stats)
		fmt.Println(string(b))
		os.Exit(0)
	}
	if backing != "none" {
		if err := Start(dir+string(filepath.Separator), append(options, WithHeartbeat(20*time.Millisecond))...); err != nil {
			stats.Refused = err.Error()
			finish()
		}
	}
	var issued atomic.Int64
	var end atomic.Bool
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			n := int64(0)
			for ; !end.Load(); n++ {
				Task("f1")()
			}
			issued.Add(n)
		})
	}
	time.Sleep(400 * time.Millisecond)
	switch when {
	case "lowered":
		fmt.Println("lower")
		_, _ = in.ReadString('\n')
	case "grown":
		grow()
	}
	time.Sleep(400 * time.Millisecond)
	end.Store(true)
	wg.Wait()
	if backing != "none" {
		if err := Stop(); err != nil {
			stats.Error = err.Error()
			if !errors.Is(err, ErrNoSpace) && !strings.Contains(err.Error(), "memory") {
				t.Fatal(err)
			}
		}
	}
	if when == "after" {
		grow()
	}
	s := Stats()
	stats.Path, stats.Issued, stats.Recorded, stats.Overwritten, stats.Lost = Path(), issued.Load(), s.Recorded, s.Overwritten, s.Lost.Total()
	if backing != "none" {
		stats.Backing = record.Current.Load().Pool().Backing().String()
	}
	runtime.KeepAlive(own)
	finish()
}
