package outside

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

var victim string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "victim")
	if err == nil {
		victim = filepath.Join(dir, "victim")
		cmd := exec.Command("go", "build", "-o", victim, ".")
		cmd.Dir = filepath.Join("testdata", "victim")
		cmd.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
		var out []byte
		if out, err = cmd.CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the program that is recorded:", err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// recorded records the victim, and opens and verifies the trace.
func recorded(t *testing.T, what string, counters ...string) (*trace.Trace, *Result, string) {
	t.Helper()
	var out bytes.Buffer
	o := Options{Command: []string{victim, what}, Path: filepath.Join(t.TempDir(), "x.scope"), Out: &out, Err: &out, Full: func(err error) { t.Error(err) }}
	for _, text := range counters {
		if o.NoSwitches = o.NoSwitches || text == "no switches"; text == "no switches" {
			continue
		}
		c, err := perf.ParseCounter(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Counters = append(o.Counters, c)
	}
	res, err := Record(context.Background(), o)
	if err != nil && strings.Contains(err.Error(), "recording from outside") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sound(t, o.Path), res, out.String()
}

// sound opens a trace, and verifies it.
func sound(t *testing.T, path string) *trace.Trace {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	findings, err := trace.Verify(f, st.Size())
	if err != nil || len(findings) > 0 {
		t.Errorf("the trace is not sound: %v %+v", err, findings)
	}
	return tracetest.OpenFile(t, path)
}

// sums adds up the weights of a counter's samples: all, those with a function on their stack, and
// those in the kernel.
func sums(t *testing.T, tr *trace.Trace, counter, function string) (all, on, kernel int64) {
	t.Helper()
	err := tr.EachSample(func(s *trace.Sample) bool {
		if s.Counter != counter {
			return true
		}
		all += s.Weight
		if s.Kernel {
			kernel += s.Weight
		}
		for _, f := range tr.AppendFrames(nil, s.Stack) {
			if f.Function == function {
				on += s.Weight
				break
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, on, kernel
}

func TestHot(t *testing.T) {
	tr, res, out := recorded(t, "hot", "task-clock:1ms")
	all, hot, _ := sums(t, tr, "task-clock", "main.hot")
	_, work, _ := sums(t, tr, "task-clock", "main.main")
	_, caller, _ := sums(t, tr, "task-clock", "main.work") // hot has no frame, which hides its caller from a walk by frame pointers
	if had := int64(res.CPU); all < had*95/100-5e6 || all > had*105/100+5e6 || hot*10 < all*9 || work*10 < all*9 || caller*10 < all*9 || res.Exit != 0 || res.Lost != 0 || out == "" {
		t.Errorf("%d ns, in hot %d, below work %d, below main %d; %+v, printed %q", all, hot, caller, work, res, out)
	}
	id := ""
	for _, i := range tr.Info {
		if i.Key == "build_id" {
			id = i.Value
		}
	}
	if want, err := exec.Command("go", "tool", "buildid", victim).Output(); err == nil && strings.TrimSpace(string(want)) != id {
		t.Errorf("build id %q, want %q", id, want)
	}
	// Each address of a stack has its frames.
	err := tr.EachSample(func(s *trace.Sample) bool {
		frames, pcs := tr.AppendFrames(nil, s.Stack), tr.PCs(s.Stack)
		whole := 0
		for _, f := range frames {
			if !f.Inlined {
				whole++
			}
		}
		if whole != len(pcs) || len(pcs) == 0 {
			t.Errorf("%d addresses, of %d functions that are not inlined: %+v", len(pcs), whole, frames)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDeep: stacks that are deeper than the kernel keeps are marked as truncated, and others are
// not.
func TestDeep(t *testing.T) {
	tr, _, _ := recorded(t, "deep", "task-clock:1ms")
	all, _, _ := sums(t, tr, "task-clock", "")
	_, main, _ := sums(t, tr, "task-clock", "main.main")
	var cut int64
	err := tr.EachSample(func(s *trace.Sample) bool {
		frames := tr.AppendFrames(nil, s.Stack)
		if off := tr.CutOff(s.Stack); off {
			cut += s.Weight
		} else if last := frames[len(frames)-1].Function; len(frames) > 100 || last == "main.deep" {
			t.Errorf("%d frames, the last one %s, and nothing is missing", len(frames), last)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if cut*10 < all*5 || main*10 < all*2 || main+cut > all {
		t.Errorf("of %d ns %d are cut off, and %d below main", all, cut, main)
	}
}

// TestSwitches: threads that switch all the time have CPU time in which nothing can be sampled,
// more on a machine with idle CPUs. If it is much it is reported, and samples have the rest; for a
// thread that computes nothing is reported.
func TestSwitches(t *testing.T) {
	for _, what := range []string{"switches", "hot"} {
		tr, res, _ := recorded(t, what, "task-clock:1ms")
		all, _, _ := sums(t, tr, "task-clock", "")
		how := tr.Lookup("counter_task-clock")
		rest, lacking := res.CPU-res.Unsampled, res.CPU-time.Duration(all)
		t.Logf("%s: %v of CPU time, %v of it unsampled, samples of %v; task-clock is %s", what, res.CPU, res.Unsampled, time.Duration(all), how)
		if reported := strings.Contains(how, "except while threads were switched"); reported != (res.Unsampled > 0) || reported && what == "hot" || !reported && lacking > res.CPU/10 {
			t.Errorf("%s: %v of %v unsampled, samples of %v; task-clock is %s", what, res.Unsampled, res.CPU, time.Duration(all), how)
		}
		if off := time.Duration(all) - rest; off > rest/10 || off < -rest/10 {
			t.Errorf("%s: samples of %v, and there is %v to sample", what, time.Duration(all), rest)
		}
	}
}

func TestThreads(t *testing.T) {
	tr, _, _ := recorded(t, "threads", "task-clock:1ms")
	threads := map[uint32]int64{}
	_ = tr.EachSample(func(s *trace.Sample) bool {
		threads[s.Thread] += s.Weight
		return true
	})
	if len(threads) < 2 || !tr.HasSwitches() {
		t.Errorf("samples of threads %v; switches: %v", threads, tr.HasSwitches())
	}
	if tr, _, _ := recorded(t, "threads", "task-clock:1ms", "no switches"); tr.HasSwitches() {
		t.Error("there are switches that nobody wanted")
	}
}

// TestCPU: all samples of a program that may use only one CPU are of that one.
func TestCPU(t *testing.T) {
	var may unix.CPUSet
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.SchedSetaffinity(0, &may); err != nil {
			t.Error(err)
		}
	}()
	for cpu := range 1024 {
		if !may.IsSet(cpu) {
			continue
		}
		var one unix.CPUSet
		one.Set(cpu)
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			t.Fatal(err)
		}
		tr, _, _ := recorded(t, "threads", "task-clock:1ms")
		n := 0
		_ = tr.EachSample(func(s *trace.Sample) bool {
			if n++; s.CPU != uint32(cpu) {
				t.Errorf("a sample of CPU %d, where the program could have %d alone", s.CPU, cpu)
			}
			return true
		})
		if n < 20 {
			t.Errorf("on CPU %d there are %d samples", cpu, n)
		}
	}
}

// TestFaults: each page touched for the first time is a fault, in the function that does it.
func TestFaults(t *testing.T) {
	tr, _, _ := recorded(t, "faults", "page-faults")
	if _, n, _ := sums(t, tr, "page-faults", "main.touch"); n < 2000 || n > 2020 {
		t.Errorf("%d page faults for 2000 pages", n)
	}
}

func TestKernel(t *testing.T) {
	tr, _, _ := recorded(t, "calls", "task-clock:1ms")
	all, on, kernel := sums(t, tr, "task-clock", "[kernel]")
	if kernel == 0 && os.Geteuid() != 0 {
		t.Skip("the kernel's part is not for everybody (kernel.perf_event_paranoid)")
	}
	if kernel*2 < all || on != kernel {
		t.Errorf("of %d ns %d are in the kernel, and %d have its frame", all, kernel, on)
	}
}

// TestFaultingLine: the kernel's time for a page fault belongs to the line that took it.
func TestFaultingLine(t *testing.T) {
	tr, _, _ := recorded(t, "faults", "page-faults", "task-clock:50us")
	lines := map[uint32]int64{}
	err := tr.EachSample(func(s *trace.Sample) bool {
		frames := tr.AppendFrames(nil, s.Stack)
		if s.Kernel && s.Counter == "task-clock" && len(frames) > 1 && frames[1].Function == "main.touch" {
			lines[frames[1].Line]++
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	source := filetest.Read(t, "testdata/victim/main.go")
	var right, wrong int64
	for line, n := range lines {
		if strings.Contains(strings.Split(string(source), "\n")[line-1], "b[i] = 1") {
			right += n
		} else {
			wrong += n
		}
	}
	if wrong*10 > right || right == 0 && os.Geteuid() == 0 { // some interrupts come elsewhere
		t.Errorf("%d samples are of the line that takes faults, and %d of others: %v", right, wrong, lines)
	}
}

// TestChild: a process that the program starts is recorded too, by its own mappings.
func TestChild(t *testing.T) {
	tr, res, _ := recorded(t, "child", "task-clock:1ms")
	if all, hot, _ := sums(t, tr, "task-clock", "main.hot"); all < int64(res.CPU)*85/100-5e6 || hot*10 < all*7 {
		t.Errorf("of %d ns %d are in the child's hot", all, hot)
	}
}

// TestFree: the running program is not traced, and its exit code is returned.
func TestFree(t *testing.T) {
	tr, res, out := recorded(t, "traced", "task-clock")
	if strings.Join(strings.Fields(out), " ") != "TracerPid: 0" || res.Exit != 7 || tr.Lookup("ended") != "exit 7" {
		t.Errorf("%q, %+v, ended by %q", out, res, tr.Lookup("ended"))
	}
	tr, res, _ = recorded(t, "die", "task-clock")
	if res.Signal != "killed" || res.Exit != -1 || tr.Lookup("ended") != "signal killed" {
		t.Errorf("%+v, ended by %q", res, tr.Lookup("ended"))
	}
}

func TestErrors(t *testing.T) {
	exists := filepath.Join(t.TempDir(), "x")
	filetest.Write(t, exists, nil)
	clock := []perf.Counter{{Name: "task-clock", Every: 1e7}}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Command: []string{"/none/such"}, Path: exists + "1", Counters: clock}, "starting /none/such"},
		{Options{Command: []string{victim, "hot"}, Path: exists, Counters: clock}, "creating the trace"},
	} {
		if _, err := Record(context.Background(), c.o); err == nil || !strings.Contains(err.Error(), c.want) && !strings.Contains(err.Error(), "recording from outside") {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	// A counter that the machine lacks is an error, and no other counter replaces it.
	o := Options{Command: []string{victim, "hot"}, Path: exists + "2", Counters: []perf.Counter{{Name: "cycles", Every: 1e6}}}
	if _, err := Record(context.Background(), o); err != nil && !strings.Contains(err.Error(), "the counter cycles: this machine has no such counter") && !strings.Contains(err.Error(), "recording from outside") {
		t.Error(err)
	}
	if _, err := os.Stat(exists + "1"); err == nil {
		t.Error("a program that can't be started left a trace")
	}
}

func TestContainsLoss(t *testing.T) {
	w, err := newWriter(filepath.Join(t.TempDir(), "x.scope"), 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	clock := &perf.Watched{Counter: perf.Counter{Name: "task-clock", Every: 1}}
	r := &recorder{w: w, began: 1000, series: map[series]*format.Samples{}, until: map[series]int64{}}
	r.take(&taken{perf.Event{Kind: perf.KindLost, Lost: 42, Time: 2000}, clock})
	r.flush(3000)
	if err := w.close(4000); err != nil {
		t.Fatal(err)
	}
	tr := tracetest.OpenFile(t, w.file.Name())
	if c := tr.Counters(); len(c) != 1 || c[0].Lost != 42 || r.lost != 42 {
		t.Errorf("%+v, %d", c, r.lost)
	}
}

// TestGap: switches before a loss that are not written yet are incomplete, and dropped.
func TestGap(t *testing.T) {
	w, err := newWriter(filepath.Join(t.TempDir(), "x.scope"), 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{w: w, began: 1000, switches: map[uint32]*format.Switches{}}
	in := func(thread uint32, at int64) {
		r.take(&taken{Event: perf.Event{Kind: perf.KindSwitch, TID: thread, Time: at}})
	}
	in(7, 2000)
	r.flush(2100)
	in(7, 2200) // it is between the written part and the loss
	in(8, 2200)
	r.gap = 2500
	r.flush(2600)
	in(7, 2400)
	in(7, 2700)
	in(8, 2800)
	r.flush(3000)
	if err := w.close(4000); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	_ = sound(t, w.file.Name()).EachSwitches(func(s *format.Switches) bool {
		got[fmt.Sprintf("%d first %v lost %v %d-%d %v", s.Thread, s.First, s.Lost, s.Base, s.Until, s.List)] = true
		return true
	})
	want := map[string]bool{
		"7 first true lost false 2000-2100 [{2000 0}]": true, "7 first false lost true 2700-3000 [{2700 0}]": true, "8 first true lost true 2800-3000 [{2800 0}]": true,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
