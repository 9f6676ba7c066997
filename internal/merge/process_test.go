package merge

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pack"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// asProcess makes the test's executable run as one of the processes of TestProcesses.
const asProcess = "SCOPEVIEW_MERGE_TEST"

func TestMain(m *testing.M) {
	switch dir := os.Getenv(asProcess); {
	case dir == "":
		os.Exit(shmtest.Run(m.Run))
	case len(os.Args) > 1:
		child(dir, os.Args[1])
	default:
		parent(dir)
	}
}

// parent runs a child in a scope, and waits for its end.
func parent(dir string) {
	if err := scope.Start(filepath.Join(dir, "parent.scope")); err != nil {
		panic(err)
	}
	ctx, s := scope.Context(context.Background(), "ask")
	l, _ := scope.LinkOf(ctx)
	args := append(strings.Fields(os.Getenv(asProcess+"_BY")), os.Args[0], l.Traceparent())
	_ = exec.Command(args[0], args[1:]...).Run() // it is killed
	s.End()
	if err := scope.Stop(); err != nil {
		panic(err)
	}
}

// child records its answer, begins another scope, and is killed.
func child(dir, traceparent string) {
	if err := scope.Start(filepath.Join(dir, "child.scope")); err != nil {
		panic(err)
	}
	l, _ := scope.ParseTraceparent(traceparent)
	_, s := scope.Context(scope.WithLink(context.Background(), l), "answer")
	s.End()
	defer scope.Begin("unfinished").End() // not reached: the process is killed
	self, _ := os.FindProcess(os.Getpid())
	_ = self.Kill()
	select {}
}

// TestProcesses checks two real processes on this machine: the child's scopes lie within the
// parent's, and the merged trace records that the child was killed.
func TestProcesses(t *testing.T) {
	for _, by := range []string{"", "unshare --time --monotonic 5000 --boottime 5000"} {
		t.Run(cmp.Or(by, "plain"), func(t *testing.T) {
			if run := strings.Fields(by); by != "" && exec.Command(run[0], append(run[1:], "true")...).Run() != nil {
				t.Skip("this system makes no time namespace for us")
			}
			asksAndAnswers(t, by)
		})
	}
}

func asksAndAnswers(t *testing.T, by string) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asProcess+"="+dir, asProcess+"_BY="+by)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tr, report := merged(t, filepath.Join(dir, "child.scope"), filepath.Join(dir, "parent.scope"))
	ps := tr.Processes()
	if len(ps) != 2 || ps[0].Path != "parent.scope" || ps[0].Lacks != "" || ps[0].Error != 0 || ps[1].Error != 0 || ps[1].Lacks == "" || report.Pairs != 0 {
		t.Fatalf("%+v", ps)
	}
	if ps[1].PPID != 0 && ps[1].Parent != 1 { // 0: not known on this system
		t.Errorf("%+v", ps[1])
	}
	at := map[string]trace.Event{}
	links := map[string]format.Link{}
	err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind == format.KindTask {
			name := tr.Name(e.Name)
			links[name], _ = e.Link()
			at[name] = *e
		}
		return true
	})
	ask, answer, unfinished := at["ask"], at["answer"], at["unfinished"]
	if err != nil || len(at) != 3 || answer.Start < ask.Start || answer.Start+answer.Dur > ask.Start+ask.Dur ||
		!unfinished.Open || unfinished.Start+unfinished.Dur > ps[1].To {
		t.Errorf("%v %+v", err, at)
	}
	if links["answer"].Parent != links["ask"].Span || links["answer"].Trace != links["ask"].Trace {
		t.Errorf("%+v", links)
	}
}

// TestCPUTimes checks that a scope whose CPU time only the Go execution trace has keeps it in the
// merged trace.
func TestCPUTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "times.scope")
	end := recordtest.Begin(t, path, gotrace.With())
	for range 20 {
		s := scope.Begin("waits")
		time.Sleep(time.Millisecond) // it yields, so the recorder's own witness does not know its CPU time
		s.End()
	}
	end()
	in := tracetest.OpenFile(t, path)
	states.Attach(in)
	other := ofText(t, "other.scope", fmt.Sprintf("header id=ff pid=9 wall=%d\nstate closed=1 tick=2000\nchunk blocks sealed\nname 2 \"other\"\nstop ticks=2000\n", in.Header().StartWall))
	m, report := merged(t, path, other)
	for _, p := range report.Processes {
		if p.Path == "times.scope" {
			want := lines(t, in, 0, m.Processes()[p.Number-1].From)
			same(t, path, lines(t, m, p.Number, 0), want)
		}
	}
}

// TestPacked checks that a packed trace merges like the original.
func TestPacked(t *testing.T) {
	plain, other := ofBulk(t, bulk.Long, 20_000, 1), ofBulk(t, bulk.Args, 2_000, 2)
	packed := filepath.Join(t.TempDir(), "packed.scopez")
	src := filetest.Open(t, plain)
	st, err := src.Stat()
	if err != nil {
		t.Fatal(err)
	}
	dst, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer dst.Close()
	if _, err := pack.Write(context.Background(), dst, pack.Source{R: src, Size: st.Size()}, func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	a, _ := merged(t, plain, other)
	b, _ := merged(t, packed, other)
	for p := range uint32(2) {
		same(t, "packed", lines(t, b, p+1, 0), lines(t, a, p+1, 0))
	}
}
