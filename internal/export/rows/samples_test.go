package rows_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

type sample struct {
	name string
	data []byte
}

// crossing is a trace with scopes that do not nest.
//
//   - Goroutine 7, "worker 1": b ends after a, in which it began; c ends after both.
//     One scope is ended by goroutine 8 within a, another after it. One of no
//     duration lies at b's start. d and e never end, e within d's time and f.
//   - Goroutine 8 waits for a lock that 7 holds, and that 9 took and gave back
//     in between; 10 still waits for it.
//   - Goroutines with numbers that equal those of others once they are cut to 32
//     bits, and unknown ones.
const crossing = `header pid=42 wall=1700000000000000000
state closed=1 tick=90000
chunk blocks sealed
name 2 "a"
name 3 "b\"\\\n\x00\x7f\xff\xfe\u2028</script>"
name 4 "worker 1"
name 5 "mu"
name 6 "open"
name 7 "queue"
info "program" "/bin/pro\"gram"
stop ticks=90000
chunk records owner=0 since=1000 flags=ends,final sealed
  go "worker 1" g=7 start=1500 created=1200 creator=1
  task "a" g=7 start=2000 stop=4000 cpu=1500/exact
  task "b\"\\\n\x00\x7f\xff\xfe\u2028</script>" g=7 start=3000 stop=6000 cpu=2000/most | key:"open" int:1 key:"a" string:"x\xff\"y"
  task "a" g=7 start=3000 stop=3000 cpu=0/exact
  task "a" g=7 start=3500 stop=7000 cpu=100/likely
  task "a" @in g=7 start=3600 open tid=1 apart
  task "a" @out g=7 start=3700 open tid=1 apart
  end g=8 start=3800 begin=3600 cpu=0/unknown | loc:@in goid:7
  end g=8 start=8000 begin=3700 cpu=0/unknown | loc:@out goid:7
  hold "mu" g=7 start=10000 stop=12000 cpu=0/unknown | addr:0xc000010080
  wait "mu" g=8 start=11000 stop=14000 cpu=0/unknown | addr:0xc000010080
  hold "mu" g=9 start=12500 stop=13500 cpu=0/unknown | addr:0xc000010080
  wait "mu" g=10 start=12600 open tid=1 | addr:0xc000010080
  hold "mu" g=8 start=14000 stop=15000 cpu=0/unknown | addr:0xc000010080
  event "a" g=7 start=15000
  pending "a" g=7 start=15100 stop=15200 cpu=0/unknown
  pending "a" g=7 start=15300 open tid=1
  counter "queue" g=7 start=15400 value=int:-3
  counter "queue" g=7 start=15500 value=float:1.5
chunk records owner=1 since=20000 flags=ends,final sealed
  task "a" g=4294967303 start=20000 stop=21000 cpu=0/unknown
  task "a" g=2147483648 start=20000 stop=21000 cpu=0/unknown
  task "a" g=2147483647 start=20000 stop=21000 cpu=0/unknown
  task "a" g=0 start=20000 stop=21000 cpu=0/unknown
  task "a" g=0 start=20500 stop=22000 cpu=0/unknown
chunk records owner=0 since=30000 flags=ends,final sealed
  task "a" g=7 start=30000 stop=60000 cpu=0/unknown
  task "open" g=7 start=31000 open tid=1
  task "open" g=7 start=40000 open tid=1
  task "a" g=7 start=70000 stop=80000 cpu=0/unknown
`

// jumble returns a trace of scopes, waits and holds with random begins and ends, often at
// the same time. But a waiting goroutine does nothing else: no scope that ends in the
// nanosecond of a wait is on its row.
func jumble(t *testing.T, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("header\nstate closed=1 tick=9000\nchunk blocks sealed\nname 2 \"a\"\nname 3 \"mu\"\nstop ticks=9000\n")
	at := 1000
	for i := range 400 {
		if i%60 == 0 {
			fmt.Fprintf(&b, "chunk records owner=0 since=%d flags=final sealed\n", at)
		}
		at += random.IntN(4)
		goid, stop := random.IntN(3)+1, at+1+random.IntN(1<<random.IntN(8))
		switch random.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "wait \"mu\" g=%d start=%d stop=%d cpu=0/unknown | addr:16\n", goid+3, at, stop)
		case 1:
			fmt.Fprintf(&b, "hold \"mu\" g=%d start=%d stop=%d cpu=0/unknown | addr:16\n", goid, at, stop)
		default:
			fmt.Fprintf(&b, "task \"a\" g=%d start=%d stop=%d cpu=0/unknown\n", goid, at, stop-random.IntN(2))
		}
	}
	return tracetest.Assemble(t, b.String())
}

// samples returns the reader's goldens, crossing, jumbles, and the demo: completed and
// killed.
func samples(t *testing.T) []sample {
	all := []sample{{"crossing", tracetest.Assemble(t, crossing)}}
	for seed := range uint64(10) {
		all = append(all, sample{fmt.Sprint("jumble ", seed), jumble(t, seed)})
	}
	paths, err := filepath.Glob("../../trace/testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, p := range paths {
		b := filetest.Read(t, p)
		_, lines, _ := strings.Cut(string(b), "-- trace --\n")
		lines, expect, _ := strings.Cut(lines, "-- expect --\n")
		if strings.HasPrefix(expect, "SUCCESS") {
			all = append(all, sample{strings.TrimSuffix(filepath.Base(p), ".txtar"), tracetest.Assemble(t, lines)})
		}
	}
	if testing.Short() || runtime.GOOS == "windows" {
		return all
	}
	return append(all, sample{"gostats", demo(t, "-repeat", "50")}, sample{"gostats killed", killed(t)})
}

// program builds the demo, and returns a command that records a trace at path.
func program(t *testing.T, args ...string) (cmd *exec.Cmd, path string) {
	t.Helper()
	dir := t.TempDir()
	bin := filepath.Join(dir, "gostats")
	if out, err := exec.Command("go", "build", "-o", bin, "../../../examples/gostats").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	path = filepath.Join(dir, "gostats.scope")
	return exec.Command(bin, append([]string{"-dir", "../../../examples/gostats/testdata/tree", "-workers", "4", "-trace", path}, args...)...), path
}

func demo(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd, path := program(t, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file(t, path)
}

// killed returns a trace of the demo, killed once it has recorded something.
func killed(t *testing.T) []byte {
	t.Helper()
	cmd, path := program(t, "-repeat", "1000000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if some(path) {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if !some(path) {
		t.Fatal("the demo recorded nothing in 20 s")
	}
	return file(t, path)
}

// some reports whether the trace has a few thousand records.
func some(path string) bool {
	tr, err := trace.OpenFile(path)
	if err != nil {
		return false
	}
	defer tr.Close()
	n := 0
	err = tr.Events(trace.Options{}, func(*trace.Event) bool { n++; return n < 2000 })
	return err == nil && n >= 2000
}

// file returns the trace including its part in memory.
func file(t *testing.T, path string) []byte {
	t.Helper()
	f, err := hot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(io.NewSectionReader(f, 0, st.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
