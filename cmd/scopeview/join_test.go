package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"runtime/trace"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
)

// recordWithGoTrace records a trace and, beside it, a Go execution trace.
func recordWithGoTrace(t *testing.T, path, goPath string, options ...scope.Option) {
	t.Helper()
	f, err := os.Create(goPath)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end := recordtest.Begin(t, path, options...)
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	busy()
	trace.Stop()
	end()
}

// busy has some goroutines that work and wait in scopes.
func busy() {
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 40 {
				func() {
					defer scope.Task("work")()
					for began := time.Now(); time.Since(began) < 200*time.Microsecond; {
					}
				}()
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	wg.Wait()
}

// joinedStates reads the Go execution traces of a trace.
func joinedStates(t *testing.T, path string) *gotrace.Info {
	t.Helper()
	data := filetest.Read(t, path)
	info, err := gotrace.Read(tracetest.Open(t, data), gotrace.Handler{})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestJoin joins recordings of the same time, for each kind of trace.
func TestJoin(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, options := range map[string][]scope.Option{
		"default":  nil,
		"heap":     {scope.WithBacking(scope.HeapBacking)},
		"ring":     {scope.WithRing(scope.MinRing)},
		"segments": {scope.WithSegments(1<<20, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			source, goFile, to := name+".scope", name+".trace", name+"-joined.scope"
			recordWithGoTrace(t, source, goFile, options...)
			was := map[string][]byte{}
			for _, path := range []string{source, goFile} {
				was[path] = filetest.Read(t, path)
			}
			if r := scopeview("join", source, goFile); r.code != exitOK || r.out != to+"\n" || r.err != "" {
				t.Fatalf("%v", r)
			}
			for path, data := range was {
				if !bytes.Equal(data, filetest.Read(t, path)) {
					t.Errorf("%s was changed", path)
				}
			}
			if r := scopeview("verify", to); r.code != exitOK {
				t.Errorf("%v", r)
			}
			if a, b := scopeview("export", "csv", source), scopeview("export", "csv", to); strings.Count(a.out, ",work,") < 120 || strings.Count(a.out, ",work,") != strings.Count(b.out, ",work,") {
				t.Errorf("%d scopes, there were %d", strings.Count(b.out, ",work,"), strings.Count(a.out, ",work,"))
			}
			info := joinedStates(t, to)
			if len(info.Problems) > 0 || info.Missing || info.Checked < 200 || info.Transitions < 200 {
				t.Errorf("%+v", info)
			}
			joined := tracetest.Open(t, filetest.Read(t, to)).GoTraces()
			if len(joined) != 1 {
				t.Fatalf("%d Go traces", len(joined))
			}
			if data, err := io.ReadAll(joined[0].Reader()); err != nil || !bytes.Equal(data, was[goFile]) {
				t.Errorf("another Go trace, of %d bytes, %v", len(data), err)
			}
		})
	}
}

// TestJoinAgain: a second Go trace adds its states, in either order of joining.
func TestJoinAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	end := recordtest.Begin(t, "x.scope")
	for _, name := range []string{"1.trace", "2.trace"} {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.Start(f); err != nil {
			t.Fatal(err)
		}
		busy()
		trace.Stop()
		f.Close()
	}
	end()
	var was *gotrace.Info
	for _, order := range []string{"12", "21"} {
		first, both := order[:1]+".scope", order+".scope"
		for _, args := range []string{"x.scope " + order[:1] + ".trace -o " + first, first + " " + order[1:] + ".trace -o " + both} {
			if r := scopeview(append([]string{"join"}, strings.Fields(args)...)...); r.code != exitOK || r.err != "" {
				t.Fatalf("%s: %v", args, r)
			}
		}
		if r := scopeview("verify", both); r.code != exitOK {
			t.Errorf("%v", r)
		}
		one, info := joinedStates(t, first), joinedStates(t, both)
		if len(one.Stretches) != 1 || len(info.Stretches) != 2 || info.Transitions < one.Transitions+200 || len(info.Problems) > 0 {
			t.Errorf("with one %+v\nwith both %+v", one, info)
		}
		if was != nil && (was.Transitions != info.Transitions || was.From != info.From || was.To != info.To) {
			t.Errorf("in one order %+v\nin the other %+v", was, info)
		}
		was = info
	}
}

// TestJoinInterrupted: an interrupted join leaves no file.
func TestJoinInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	recordWithGoTrace(t, "x.scope", "x.trace")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := scopeviewOn(ctx, false, "join", "x.scope", "x.trace"); r.code != exitFailed || !strings.Contains(r.err, "interrupted") {
		t.Errorf("%v", r)
	}
	files(t, ".", "x.scope", "x.trace")
	if r := scopeviewOn(t.Context(), true, "join", "x.scope", "x.trace"); r.code != exitOK || r.out != "x-joined.scope\n" {
		t.Errorf("on a terminal: %v", r)
	}
}

// TestJoinWhileWritten: for a trace that is being written, its current contents are joined.
func TestJoinWhileWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := os.Create("x.trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end := recordtest.Begin(t, "x.scope", scope.WithFlushEvery(10*time.Millisecond))
	if err := trace.Start(f); err != nil {
		t.Fatal(err)
	}
	busy()
	trace.Stop()
	r := scopeview("join", "x.scope", "x.trace")
	end()
	if r.code != exitOK {
		t.Fatalf("%v", r)
	}
	if r := scopeview("verify", "x-joined.scope"); r.code != exitOK {
		t.Errorf("%v", r)
	}
	if info := joinedStates(t, "x-joined.scope"); info.Checked < 200 || len(info.Problems) > 0 {
		t.Errorf("%+v", info)
	}
}

// TestJoinRefuses: a Go trace of another process or time is not joined, and no file is left.
func TestJoinRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	recordWithGoTrace(t, "a.scope", "a.trace")
	recordWithGoTrace(t, "b.scope", "b.trace")
	twoAtOnce(t, "c", "d")
	// A trace with another clock.
	skewed := filetest.Read(t, "a.scope")
	mono := int64(binary.LittleEndian.Uint64(skewed[60:]))
	binary.LittleEndian.PutUint64(skewed[60:], uint64(mono+5e6))
	binary.LittleEndian.PutUint32(skewed[format.HeaderSize:], crc32.Checksum(skewed[:format.HeaderSize], crc32.MakeTable(crc32.Castagnoli)))
	write := func(name string, data []byte) {
		t.Helper()
		filetest.Write(t, name, data)
	}
	write("skewed.scope", skewed)
	goTrace := filetest.Read(t, "a.trace")
	write("bits.trace", append(bytes.Clone(goTrace[:20]), bytes.Repeat([]byte{0xa5}, 3000)...))
	write("head.trace", goTrace[:gotrace.HeaderSize])
	write("newer.trace", append([]byte("go 1.99 trace\x00\x00\x00"), goTrace[16:]...))
	write("older.trace", append([]byte("go 1.22 trace\x00\x00\x00"), goTrace[16:]...))
	write("text.trace", []byte("hello"))
	write("empty.trace", nil)
	write("there.scope", []byte("precious"))
	tracetest.Write(t, "silent.scope", fmt.Sprintf("header clock=monotonic path=go start=1000 mono=%d\nstate closed=1 tick=%d\n"+
		"chunk blocks sealed\ninfo \"os\" \"linux\"\nstop ticks=%d\n", mono, int64(1e10), int64(1e10)))
	names := listed(t)
	for _, test := range []struct{ args, want string }{
		{"a.scope b.trace", "it is of another time"},
		{"b.scope a.trace", "it is of another time"},
		{"c.scope d.trace", "it is of another process, or the clocks do not align"},
		{"skewed.scope a.trace", "it is of another process, or the clocks do not align"},
		{"silent.scope a.trace", "so its process can't be checked"},
		{"a.scope bits.trace", "can't be"},
		{"a.scope head.trace", "it does not overlap the trace's time"},
		{"a.scope newer.trace", "it is of Go 1.99, which this scopeview does not know"},
		{"a.scope older.trace", "it is of Go 1.22; traces of Go before 1.25 lack clock snapshots"},
		{"a.scope text.trace", "it is not a Go execution trace"},
		{"a.scope empty.trace", "it is empty"},
		{"a.scope .", "it is a directory"},
		{"a.scope gone.trace", "opening the Go execution trace: open gone.trace"},
		{"gone.scope a.trace", "gone.scope: no such file"},
		{"text.trace a.trace", "not a scopeview trace"},
		{"a.scope a.trace -o there.scope", "there.scope: file already exists; give another name"},
		{"a.scope a.trace -o a.scope", "a.scope: file already exists; give another name"},
		{"a.scope a.trace -o no/x.scope", "nothing was written; give another file with -o"},
	} {
		if r := scopeview(append([]string{"join"}, strings.Fields(test.args)...)...); r.code != exitFailed || !strings.Contains(r.err, test.want) || r.out != "" {
			t.Errorf("%s: want %q, got %v", test.args, test.want, r)
		}
	}
	for _, args := range []string{"a.scope a.trace -o -", "a.scope", "a.scope a.trace b.trace"} {
		if r := scopeview(append([]string{"join"}, strings.Fields(args)...)...); r.code != exitUsage {
			t.Errorf("%s: %v", args, r)
		}
	}
	if now := listed(t); now != names {
		t.Errorf("there is %s, there was %s", now, names)
	}
	if string(filetest.Read(t, "there.scope")) != "precious" {
		t.Error("a file was overwritten")
	}
}

// twoAtOnce runs two processes that record at the same time.
func twoAtOnce(t *testing.T, names ...string) {
	t.Helper()
	var all []*exec.Cmd
	var orders []io.WriteCloser
	var answers []*bufio.Reader
	for _, name := range names {
		cmd := exec.Command(os.Args[0], "-test.run=^TestJoinOther$")
		cmd.Env = append(os.Environ(), "SCOPEVIEW_JOIN_OTHER="+name)
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		if err := errors.Join(inErr, outErr); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip("no process can be started: ", err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		all, orders, answers = append(all, cmd), append(orders, in), append(answers, bufio.NewReader(out))
	}
	for range 2 { // after the second reply of both, each has worked while the other did
		for i := range all {
			if line, err := answers[i].ReadString('\n'); line != "worked\n" {
				t.Fatalf("%s said %q: %v", names[i], line, err)
			}
		}
		for _, w := range orders {
			if _, err := fmt.Fprintln(w, "more"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, cmd := range all {
		orders[i].Close()
		io.Copy(io.Discard, answers[i])
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%s: %v", names[i], err)
		}
	}
}

// TestJoinOther is a process of TestJoinRefuses. It has so many goroutines that some have the same
// ids as goroutines of the other process. For each line of input it works and replies.
func TestJoinOther(t *testing.T) {
	name := os.Getenv("SCOPEVIEW_JOIN_OTHER")
	if name == "" {
		t.Skip("it is no test of its own")
	}
	f, err := os.Create(name + ".trace")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(scope.Start(name+".scope"), trace.Start(f)); err != nil {
		t.Fatal(err)
	}
	var rounds [60]chan bool
	var done, worked sync.WaitGroup
	for i := range rounds {
		rounds[i] = make(chan bool)
		done.Go(func() {
			for range rounds[i] {
				for range 5 {
					end := scope.Task("work")
					for began := time.Now(); time.Since(began) < 50*time.Microsecond; {
					}
					end()
					time.Sleep(100 * time.Microsecond)
				}
				worked.Done()
			}
		})
	}
	in := bufio.NewReader(os.Stdin)
	for {
		worked.Add(len(rounds))
		for _, r := range rounds {
			r <- true
		}
		worked.Wait()
		fmt.Println("worked")
		if _, err := in.ReadString('\n'); err != nil {
			break
		}
	}
	for _, r := range rounds {
		close(r)
	}
	done.Wait()
	trace.Stop()
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
}

func listed(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(entries)
}
