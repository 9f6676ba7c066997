package merge

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pack"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// asProcess has the test's executable be one of the processes of TestProcesses.
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

// parent asks a child in a scope, and waits for its end.
func parent(dir string) {
	if err := scope.Start(filepath.Join(dir, "parent.scope")); err != nil {
		panic(err)
	}
	ctx, s := scope.Context(context.Background(), "ask")
	l, _ := scope.LinkOf(ctx)
	_ = exec.Command(os.Args[0], l.Traceparent()).Run() // it is killed
	s.End()
	if err := scope.Stop(); err != nil {
		panic(err)
	}
}

// child answers, begins something else, and is killed.
func child(dir, traceparent string) {
	if err := scope.Start(filepath.Join(dir, "child.scope")); err != nil {
		panic(err)
	}
	l, _ := scope.ParseTraceparent(traceparent)
	_, s := scope.Context(scope.WithLink(context.Background(), l), "answer")
	s.End()
	defer scope.Begin("unfinished").End() // who is killed does not come to that
	self, _ := os.FindProcess(os.Getpid())
	_ = self.Kill()
	select {}
}

// TestProcesses: two real processes on this machine. What the child did lies within what the
// parent did, and that it was killed is told.
func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asProcess+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tr, report := merged(t, filepath.Join(dir, "child.scope"), filepath.Join(dir, "parent.scope"))
	ps := tr.Processes()
	if len(ps) != 2 || ps[0].Path != "parent.scope" || ps[0].Lacks != "" || ps[0].Error != 0 || ps[1].Error != 0 || ps[1].Lacks == "" || report.Pairs != 0 {
		t.Fatalf("%+v", ps)
	}
	if ps[1].PPID != 0 && ps[1].Parent != 1 { // 0: of this system it is not known
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

// TestPacked: of a packed trace comes the same as of the one that it was made of.
func TestPacked(t *testing.T) {
	plain, other := ofBulk(t, bulk.Long, 20_000, 1), ofBulk(t, bulk.Args, 2_000, 2)
	packed := filepath.Join(t.TempDir(), "packed.scopez")
	src, err := os.Open(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
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

// TestManyNames: names beyond those that a trace can have are under one, counted.
func TestManyNames(t *testing.T) {
	var report Report
	f, err := os.Create(filepath.Join(t.TempDir(), "names"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := &merger{report: &report, w: newWriter(f), ids: map[string]uint16{}}
	name := make([]byte, 3)
	last := uint16(0)
	for i := range format.MaxNames + 10 {
		name[0], name[1], name[2] = byte(i), byte(i>>8), byte(i>>16)
		last = m.intern(string(name))
	}
	if last != format.NameOther || len(m.ids) != format.MaxNames-format.FirstName || m.intern("\x00\x00\x00") != format.FirstName {
		t.Errorf("%d names, the last one is %d", len(m.ids), last)
	}
}
