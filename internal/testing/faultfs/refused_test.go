//go:build linux && !scope_off

package faultfs_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// refusedChild in the environment makes TestG47 the program whose calls are refused: the
// value is a refusedCase and a directory.
const refusedChild = "SCOPEVIEW_REFUSED_CHILD"

// refusedCase is a recording whose calls for memory fail.
type refusedCase struct {
	Name     string
	Backing  string
	Ring     bool
	Segments bool
	Trace    bool // gotrace.With()
	Short    bool // done in short, too
	Dir      string
}

func refusedCases() (cases []refusedCase) {
	for _, b := range backings() {
		cases = append(cases, refusedCase{Name: b, Backing: b, Short: b == "shm"},
			refusedCase{Name: b + ", ring with a trigger", Backing: b, Ring: true, Short: b == "shm"})
	}
	return append(cases, refusedCase{Name: "segments", Segments: true, Short: true}, refusedCase{Name: "gotrace", Trace: true},
		refusedCase{Name: "gotrace, ring", Trace: true, Ring: true})
}

// refusedRound has the results of one recording of the program.
type refusedRound struct {
	StartErr, StopErr           string
	Path                        string
	Issued                      int64
	Recorded, Overwritten, Lost int64
	Window                      int64 // of Lost, because the flusher or the disk was late
	Backing                     string
	LastErr                     string
	Left                        []string // files, descriptors and mappings that it did not give back
}

// refusedReport is the program's report at its end: on the recording whose calls were
// refused, and on two after it, of which the first may create what a process has once.
type refusedReport struct {
	Rounds  [3]refusedRound
	Refused int
}

// TestG47 has the calls for memory of a recording fail from the nth on, and the nth alone, for
// each n until there are no more: Start says why, or the recording goes on and counts
// what it loses; all is given back, and the next recording is whole.
func TestG47(t *testing.T) {
	if v := os.Getenv(refusedChild); v != "" {
		refusedProgram(v)
	}
	faultfs.Children(t)
	if sys.Race {
		t.Skip("the race detector maps memory itself")
	}
	asks(t)
	for _, c := range refusedCases() {
		if !faultfs.Full() && !c.Short {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			if faultfs.Full() {
				t.Parallel() // they mostly wait
			}
			refuseEach(t, c)
		})
	}
}

// refuseEach is TestG47 of one case.
func refuseEach(t *testing.T, c refusedCase) {
	var sum struct{ runs, refused, starts, lost, issued int64 }
	var mu sync.Mutex
	each := func(n int, onOn bool) (more bool) {
		r, reported := refuse(t, c, n, onOn)
		if r == nil {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		first := &reported.Rounds[0]
		sum.runs, sum.refused = sum.runs+1, sum.refused+int64(r.refused)
		sum.lost, sum.issued = sum.lost+first.Lost, sum.issued+first.Issued
		if first.StartErr != "" {
			sum.starts++
		}
		return r.refused > 0
	}
	var modes sync.WaitGroup
	for _, onOn := range []bool{false, true} {
		modes.Go(func() {
			for n := 1; each(n, onOn); n += step(n) {
			}
		})
	}
	modes.Wait()
	t.Logf("G47: %s: %d programs, %d calls refused: %d times Start said why, else of %d issued %d were lost and counted",
		c.Name, sum.runs, sum.refused, sum.starts, sum.issued, sum.lost)
}

// step returns the distance to the next call that fails: all calls of Start fail in turn, and
// some of the recurring ones; in short mode a few.
func step(n int) int {
	switch {
	case !faultfs.Full():
		return 14 + 3*n
	case n < 48:
		return 1
	}
	return 1 + n/8
}

// refuse runs the program once.
func refuse(t *testing.T, c refusedCase, n int, onOn bool) (*refusal, *refusedReport) {
	c.Dir = t.TempDir()
	arg, err := json.Marshal(c)
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestG47$")
	shm, err := os.MkdirTemp(hot.Dir, "refused-") // its own, where others' files don't come and go
	if err != nil {
		t.Error(err)
		return nil, nil
	}
	defer os.RemoveAll(shm)
	cmd.Env = append(os.Environ(), refusedChild+"="+string(arg), shmtest.Variable+"="+shm)
	var words strings.Builder
	cmd.Stderr = &words
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return nil, nil
	}
	tooLong := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer tooLong.Stop()
	lines := bufio.NewReader(out)
	line, _ := lines.ReadString('\n')
	var fd int
	r := &refusal{nth: n, onOn: onOn, round: len(c.Name)}
	what := fmt.Sprintf("call %d, and all that follow: %v", n, onOn)
	if _, err := fmt.Sscanf(line, "listen %d", &fd); err != nil {
		_ = cmd.Wait()
		t.Errorf("no filter that asks: %s%s", line, words.String())
		return nil, nil
	}
	l, err := listener(cmd.Process.Pid, fd)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Error(err)
		return nil, nil
	}
	answered := make(chan error, 1)
	go func() { answered <- r.answer(l) }()
	fmt.Fprintln(in, "go")
	rest, _ := io.ReadAll(lines)
	if err := errors.Join(cmd.Wait(), <-answered); err != nil {
		t.Errorf("%s (%s): the program ended with %v\n%s\n%s", what, r.what, err, rest, words.String())
		return nil, nil
	}
	reported := new(refusedReport)
	if err := json.Unmarshal(rest, reported); err != nil {
		t.Errorf("%s (%s): %v\n%s", what, r.what, err, rest)
		return nil, nil
	}
	what += " (" + r.what + ")"
	for i := range reported.Rounds {
		checkRefused(t, what, i, &reported.Rounds[i])
	}
	return r, reported
}

// checkRefused checks a recording, of which only the first may have lost anything.
func checkRefused(t *testing.T, what string, i int, r *refusedRound) {
	what = fmt.Sprintf("%s: recording %d", what, i)
	if len(r.Left) > 0 {
		t.Errorf("%s: left: %v", what, r.Left)
	}
	if i > 0 && (r.StartErr != "" || r.StopErr != "" || r.Lost != r.Window || r.Recorded < 10_000 || r.LastErr != "") {
		t.Errorf("%s: %+v", what, *r)
	}
	if r.StartErr != "" {
		if !strings.Contains(r.StartErr, "starting ") || strings.Contains(r.StartErr, "errno") {
			t.Errorf("%s: Start says %q", what, r.StartErr)
		}
		return
	}
	if r.Recorded+r.Overwritten+r.Lost != r.Issued {
		t.Errorf("%s: not what was issued: %+v", what, *r)
	}
	tr, err := trace.OpenFile(r.Path)
	if err != nil {
		t.Errorf("%s: %v; %+v", what, err, *r)
		return
	}
	defer tr.Close()
	n := int64(0)
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if !e.Overwritten {
			n++
		}
		return true
	}); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if r.StopErr == "" && (n != r.Recorded || !tr.Closed() || tr.State().Lost != r.Lost) {
		t.Errorf("%s: the trace has %d records, lost %d, closed %t; %+v", what, n, tr.State().Lost, tr.Closed(), *r)
	}
	for _, p := range tr.Problems() {
		if p.Damage() {
			t.Errorf("%s: the trace is damaged at %d: %s", what, p.Offset, p.Text)
		}
	}
}

// refusedProgram is the program.
func refusedProgram(v string) {
	var c refusedCase
	if err := json.Unmarshal([]byte(v), &c); err != nil {
		panic(err)
	}
	free, err := os.Open("/dev/null")
	if err != nil {
		panic(err)
	}
	fmt.Println("listen", free.Fd())
	free.Close()
	if _, err := listen(); err != nil {
		panic(err)
	}
	if _, err := fmt.Scanln(new(string)); err != nil {
		panic(err)
	}
	var reported refusedReport
	for i := range reported.Rounds {
		before := possessions()
		if i == 0 {
			order(orderArm)
		}
		reported.Rounds[i] = c.record(i)
		if i == 0 {
			reported.Refused = order(orderRest)
		}
		// What brings the beginning to the disk has a descriptor until the disk has it.
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if reported.Rounds[i].Left = left(slices.Clone(before), possessions(), i > 0); len(reported.Rounds[i].Left) == 0 {
				break
			}
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(reported)
	os.Exit(0)
}

// possessions are the process's descriptors, its hot files, and its mappings of these and
// of traces.
func possessions() (p []string) {
	fds, _ := os.ReadDir("/proc/self/fd")
	for _, e := range fds {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(to, "anon_inode") {
			p = append(p, "descriptor of "+to)
		}
	}
	hots, _ := filepath.Glob(filepath.Join(hot.Dir, "scopeview-*.hot"))
	for _, h := range hots {
		p = append(p, "file "+h)
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		if f := strings.Fields(line); len(f) > 5 && (strings.HasSuffix(f[5], ".hot") || strings.Contains(f[5], ".scope")) {
			p = append(p, "mapping of "+f[5])
		}
	}
	return p
}

// left returns the items of now that are not in before. Mappings remain if their removal was
// refused.
func left(before, now []string, mappings bool) (more []string) {
	for _, p := range now {
		if i := slices.Index(before, p); i >= 0 {
			before = slices.Delete(before, i, i+1)
		} else if mappings || !strings.HasPrefix(p, "mapping") {
			more = append(more, p)
		}
	}
	return more
}

// record makes one recording.
func (c *refusedCase) record(i int) (r refusedRound) {
	dir := filepath.Join(c.Dir, fmt.Sprint(i))
	path := filepath.Join(dir, "t.scope")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		panic(err)
	}
	o := []scope.Option{scope.WithFlushEvery(10 * time.Millisecond), scope.WithHeartbeat(20 * time.Millisecond)}
	if c.Backing != "" {
		o = append(o, scope.WithBacking(victim.Backings()[c.Backing]))
	}
	if c.Ring {
		o = append(o, scope.WithRing(scope.MinRing), scope.WithTrigger("slow", 10*time.Microsecond, dir))
	}
	if c.Segments {
		o = append(o, scope.WithSegments(scope.MinSegment, 4))
	}
	if c.Trace {
		o = append(o, gotrace.With())
	}
	if err := scope.Start(path, o...); err != nil {
		r.StartErr = err.Error()
		if files, _ := os.ReadDir(dir); len(files) > 0 {
			r.StartErr += fmt.Sprintf("starting left %v", files)
		}
		return r
	}
	r.Path = scope.Path()
	r.Issued = c.work(dir)
	if err := scope.Stop(); err != nil {
		r.StopErr = err.Error()
	}
	s := scope.Stats()
	r.Recorded, r.Overwritten, r.Lost, r.Backing = s.Recorded, s.Overwritten, s.Lost.Total(), s.Recorder
	if r.Window = s.Lost.Window; s.LastError != nil {
		r.LastErr = s.LastError.Error()
	}
	// On a busy machine a segment can come too late, which is unrelated to the refused calls.
	if strings.Contains(r.LastErr, "extending the file took the disk ") {
		r.Window, r.LastErr = r.Window+s.Lost.IO, ""
	}
	return r
}

// work records 6 MB and more on four goroutines, with pauses in which the flusher has its
// rounds, and has a snapshot written.
func (c *refusedCase) work(dir string) int64 {
	const workers = 4
	rounds, each := 3, 9_000
	if c.Ring || c.Segments { // which lose what comes faster than places are used again
		rounds, each = 10, 2_700
	}
	var issued atomic.Int64
	for range rounds {
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for n := range each {
					scope.Begin("numbered", w, n).End()
				}
				issued.Add(int64(each))
			})
		}
		wg.Wait()
		time.Sleep(12 * time.Millisecond)
	}
	if c.Ring {
		slow := scope.Begin("slow")
		time.Sleep(time.Millisecond)
		slow.End()
		issued.Add(1)
		_ = scope.Snapshot(filepath.Join(dir, "snapshot.scope"))
	}
	return issued.Load()
}
