//go:build !scope_off

package record_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// TestG17 records from several goroutines until records are lost or overwritten, for
// every reason that a test can cause: the issued records are those recorded, lost and
// overwritten, the trace agrees with Stats, and the tool's --strict reports the loss.
func TestG17(t *testing.T) {
	if faultfs.Emulated() || sys.Race || wantPath == format.PathPure {
		t.Skip("it takes too long to fill what is to be filled")
	}
	rounds := 1
	if faultfs.Full() {
		rounds = 5
	}
	tool := ""
	if goTool, err := exec.LookPath("go"); err == nil {
		tool = filepath.Join(t.TempDir(), "scopeview")
		if out, err := exec.Command(goTool, "build", "-o", tool, "../../cmd/scopeview").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	var lines []string
	for _, c := range []struct {
		name string
		size int64 // of its file system; 0: the tests' own
		each int   // records per goroutine
		rest bool  // slow enough for a ring to be overwritten
		opts []Option
	}{
		{"nothing", 0, 2_000, false, nil},
		{"limit", 0, 40_000, false, []Option{WithLimit(2 << 20)}},
		{"burst", 0, 200_000, false, []Option{WithLimit(NoLimit)}},
		{"ring", 0, 100_000, true, []Option{WithRing(4 << 20)}},
		{"full disk", 16 << 20, 150_000, false, nil},
		{"ring on a full disk", 16 << 20, 150_000, true, []Option{WithRing(32 << 20)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				var issued int64
				lost := map[format.Loss]int64{}
				recorded, over := int64(0), int64(0)
				for range rounds {
					dir := t.TempDir()
					if c.size != 0 {
						dir = faultfs.Tmpfs(t, c.size).Dir
					}
					if err := Start(dir, append(c.opts, backing, shortTicks())...); err != nil {
						t.Fatal(err)
					}
					n := issue(c.each, c.rest)
					err := Stop()
					if err != nil && (c.size == 0 || !errors.Is(err, unix.ENOSPC) && !errors.Is(err, pool.ErrNoSpace)) {
						t.Fatal(err)
					}
					s := Stats()
					if err != nil && record.Current.Load().Pool().Heap() {
						cutOff(t, n)
					} else {
						accounted(t, n, tool)
					}
					issued += n
					recorded += s.Recorded
					over += s.Overwritten
					for why, n := range byReason(s.Lost) {
						lost[why] += n
					}
				}
				line := fmt.Sprintf("%s: %d issued, %d recorded, %d overwritten", strings.TrimPrefix(t.Name(), "TestG17/"), issued, recorded, over)
				for why := format.LossWindow; why < format.LossReasons; why++ {
					if lost[why] > 0 {
						line += fmt.Sprintf(", %d lost by %v", lost[why], why)
					}
				}
				lines = append(lines, line)
			})
		})
	}
	t.Logf("G17: %s", strings.Join(lines, "; "))
}

// issue records on several goroutines, as fast as they can or slowly enough for the
// disk, and returns the number of records.
func issue(each int, rest bool) int64 {
	var wg sync.WaitGroup
	var issued atomic.Int64
	text := strings.Repeat("x", 200)
	for w := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(rand.Uint64(), uint64(w)))
			n := 0
			for ; n < each; n++ {
				if rest && n%500 == 0 {
					time.Sleep(time.Millisecond)
				}
				switch r.IntN(8) {
				case 0:
					Event("event", n, text)
				case 1:
					Counter("counter", n)
				case 2:
					Begin("span", n).End("end")
				case 3:
					Pending("pending", text)()
				case 4:
					outer := Task("outer")
					Task("inner", n)()
					outer()
					n++
				default:
					Task("task")()
				}
			}
			issued.Add(int64(n))
		})
	}
	wg.Wait()
	return issued.Load()
}

// accounted compares the number of issued records with Stats and the trace.
func accounted(t *testing.T, issued int64, tool string) {
	t.Helper()
	s := Stats()
	if s.Recorded+s.Overwritten+s.Lost.Total() != issued {
		t.Errorf("%d issued, %d recorded, %d overwritten, lost %+v", issued, s.Recorded, s.Overwritten, s.Lost)
	}
	n := int64(0)
	tr := each(t, Path(), func(*trace.Trace, *trace.Event) { n++ })
	if s.Overwritten == 0 && n != s.Recorded { // a ring carries some overwritten ones
		t.Errorf("%d recorded, the trace has %d", s.Recorded, n)
	}
	verify(t, Path())
	lost := tr.Lost()
	for why, want := range byReason(s.Lost) {
		if lost[why] != want {
			t.Errorf("%d were lost by %v, the trace says %d", want, why, lost[why])
		}
	}
	if over := tr.State().Overwritten; over != s.Overwritten {
		t.Errorf("%d were overwritten, the trace says %d", s.Overwritten, over)
	}
	if tool == "" {
		return
	}
	want := 0
	if s.Overwritten+s.Lost.Total()+s.Lost.Ends > 0 {
		want = 3
	}
	out, err := exec.Command(tool, "info", "--strict", Path()).CombinedOutput()
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if code != want {
		t.Errorf("scopeview info --strict exits with %d, want %d: lost %+v\n%s", code, want, s.Lost, out)
	}
}

func byReason(l Lost) map[format.Loss]int64 {
	return map[format.Loss]int64{
		format.LossWindow: l.Window, format.LossLimit: l.Limit, format.LossSpace: l.Space, format.LossIO: l.IO,
		format.LossBusy: l.Busy, format.LossStop: l.Stop, format.LossEnd: l.Ends, format.LossBuffer: l.Buffer,
	}
}

// cutOff checks the heap backing after a disk that stayed full. Stats is exact; the
// trace has the number of lost records, but neither their reasons nor a valid end.
func cutOff(t *testing.T, issued int64) {
	t.Helper()
	s := Stats()
	if s.Recorded+s.Overwritten+s.Lost.Total() != issued || s.LastError == nil {
		t.Errorf("%d issued, %d recorded, %d overwritten, lost %+v, error %v", issued, s.Recorded, s.Overwritten, s.Lost, s.LastError)
	}
	tr := tracetest.OpenFile(t, Path())
	if tr.Closed() && tr.State().Lost != s.Lost.Total() {
		t.Errorf("lost %+v, the trace says %d", s.Lost, tr.State().Lost)
	}
}
