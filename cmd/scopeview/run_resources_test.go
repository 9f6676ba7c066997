package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/hostmod"
)

// Cases of the program of testdata/strangers: resources that Go has only one of, Go's features, and
// C.
var (
	strangersTake = []string{"around", "within", "before", "behind", "after", "twice"}
	strangersGo   = []string{"signals", "pull", "locked", "goexit", "nilpanic", "deep"}
	strangersC    = []string{"interrupted", "blocked", "threads", "handles", "through"}
)

// strangers copies that program. It reports whether it can contain C code.
func strangers(t *testing.T) (l *launcher, c bool) {
	t.Helper()
	l = launching(t, "")
	if err := os.CopyFS(l.dir, os.DirFS(filepath.Join("testdata", "strangers"))); err != nil {
		t.Fatal(err)
	}
	cc := strings.TrimSpace(l.process(l.env, "", "go", "env", "CC").out)
	if _, err := exec.LookPath(cc); err == nil && runtime.GOOS == "linux" {
		l.env = append(l.env, "CGO_ENABLED=1")
		return l, true
	}
	l.env = append(l.env, "CGO_ENABLED=0")
	return l, false
}

// TestG41Strangers: programs that take an execution trace, a profile and a flight recorder
// themselves, request SIGPROF, end threads, switch between coroutines, and have C code that waits,
// blocks SIGPROF and calls back, behave the same with a recording as without. The resources that
// they take are complete.
func TestG41Strangers(t *testing.T) {
	l, c := strangers(t)
	cases := append(append([]string{"all", "rate"}, strangersTake...), strangersGo...)
	if c {
		cases = append(cases, strangersC...)
	}
	plain, rewritten := filepath.Join(l.dir, "plain"), filepath.Join(l.dir, "rewritten")
	if r := l.process(l.env, "", "go", "build", "-o", plain, "."); r.code != 0 {
		t.Fatal(r)
	}
	want := l.process(l.env, "", plain, cases...)
	if want.code != 0 || !strings.HasSuffix(want.out, "lived\n") {
		t.Fatalf("without a recording: %s", want)
	}
	if r := l.tool("build", "-o", rewritten, "."); r.code != 0 {
		t.Fatal(r)
	}
	times, modes := 1, []string{"SCOPEVIEW_STATES=1"}
	if faultfs.Full() {
		times, modes = 10, append(modes, "SCOPEVIEW_RING=16M", "SCOPEVIEW_STATES=0")
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			for range times {
				out := t.TempDir()
				env := append(l.env[:len(l.env):len(l.env)], mode, "OUT="+out, "SCOPEVIEW_BUDGET=100%", "SCOPEVIEW="+filepath.Join(out, "x.scope"))
				if r := l.process(env, "", rewritten, cases...); r.code != 0 || r.out != want.out {
					t.Errorf("%s\nwithout a recording it is\n%s", r, want.out)
				}
				wholeResources(t, out)
			}
		})
	}
}

// TestG41StrangersOwn: the same for a program that records itself, not built by scopeview. While
// the recording has a resource, Go refuses it to the program, unless the program requests it from
// the recording.
func TestG41StrangersOwn(t *testing.T) {
	l, c := strangers(t)
	hostmod.Complete(t, l.dir)
	plain, own := filepath.Join(l.dir, "plain"), filepath.Join(l.dir, "own")
	for program, tags := range map[string]string{plain: "", own: "own"} {
		if r := l.process(append(l.env, hostmod.Env...), "", "go", "build", "-tags="+tags, "-o", program, "."); r.code != 0 {
			t.Fatal(r)
		}
	}
	others := strangersGo
	if c {
		others = append(append([]string{}, others...), strangersC...)
	}
	for _, c := range []struct {
		name  string
		env   []string
		cases []string
		had   []string // the resources that Go refuses meanwhile
	}{
		{"yield", []string{"YIELD=1"}, append(strangersTake, "all"), nil},
		{"whole", nil, append(strangersTake, "rate", "after"), []string{"trace: taken: execution tracer already enabled", "cpu: taken: cpu profiling already in use"}},
		{"ring", []string{"RING=1"}, append(strangersTake, "rate", "after"), []string{"flight: taken: flight recorder already enabled", "cpu: taken: cpu profiling already in use"}},
		// Without this, a recording by gotrace.With is not safe together with panics through C and
		// nil pointers.
		{"others", []string{"GODEBUG=tracefpunwindoff=1"}, others, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			want := l.process(l.env, "", plain, c.cases...)
			r := l.process(append(append(l.env[:len(l.env):len(l.env)], "OUT="+out, "TRACES="+t.TempDir()), c.env...), "", own, c.cases...)
			if r.code != 0 {
				t.Error(r)
			}
			if c.name != "others" {
				wholeResources(t, out)
			}
			if c.had == nil {
				if r.out != want.out {
					t.Errorf("%s\nwithout a recording it is\n%s", r, want.out)
				}
				return
			}
			// While a resource is refused, the program has taken nothing. After the recording it is
			// not refused.
			name := ""
			for line := range strings.Lines(r.out) {
				line = strings.TrimSuffix(line, "\n")
				refused := strings.Contains(line, ": taken: ")
				switch {
				case !strings.Contains(line, " ") && !refused:
					name = line
				case refused && (name == "around" || name == "after" || name == "before"):
					t.Errorf("%s: %s", name, line)
				case refused && !slices.Contains(c.had, line):
					t.Errorf("%s: %s", name, line)
				}
			}
			for _, line := range c.had {
				if !strings.Contains(r.out, line+"\n") {
					t.Errorf("%q is not there:\n%s", line, r.out)
				}
			}
		})
	}
}

// wholeResources checks that each resource that the program has kept is complete.
func wholeResources(t *testing.T, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*-*"))
	if err != nil || len(paths) == 0 {
		t.Fatal("nothing was kept: ", err)
	}
	for _, path := range paths {
		b := filetest.Read(t, path)
		name := filepath.Base(path)
		if strings.Contains(name, "cpu") {
			p, err := profile.ParseData(b)
			if err != nil || len(p.Sample) == 0 && strings.HasPrefix(name, "all") {
				t.Errorf("%s: %v, %v", name, p, err)
			}
			continue
		}
		r, err := trace.NewReader(bytes.NewReader(b))
		n := 0
		for err == nil {
			var e trace.Event
			if e, err = r.ReadEvent(); e.Kind() == trace.EventStateTransition {
				n++
			}
		}
		if !errors.Is(err, io.EOF) || n < 100 {
			t.Errorf("%s: %d transitions, then %v", name, n, err)
		}
	}
}
