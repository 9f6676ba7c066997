package main

import (
	"os"
	"path/filepath"
	"testing"
)

// profiledProgram repeatedly takes Go's exclusive resources, such as the CPU profile.
const profiledProgram = `-- go.mod --
module example.com/profiled

go 1.25
-- main.go --
package main

import (
	"bytes"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
)

func main() {
	for range 20 {
		var cpu, exec, flown bytes.Buffer
		f := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
		fmt.Println(f.Start(), trace.Start(&exec), pprof.StartCPUProfile(&cpu))
		fmt.Println(trace.Start(&exec), pprof.StartCPUProfile(&cpu))
		work()
		_, err := f.WriteTo(&flown)
		pprof.StopCPUProfile()
		trace.Stop()
		f.Stop()
		fmt.Println(err, cpu.Len() > 0, exec.Len() > 0, flown.Len() > 0)
	}
}

func work() {
	done := make(chan string)
	for i := range 100 {
		go func() { done <- fmt.Sprint(i) }()
		<-done
	}
}
-- main_test.go --
package main

import "testing"

func TestWork(t *testing.T) { work() }
`

// TestRunGivesBack: a recorded program that profiles itself gets its profiles, as its plain build
// does; so does go test.
func TestRunGivesBack(t *testing.T) {
	l := launching(t, profiledProgram)
	plain := l.process(l.env, "", "go", "run", ".")
	if plain.code != 0 {
		t.Fatal(plain)
	}
	for _, env := range [][]string{nil, {"SCOPEVIEW_RING=16M"}, {"SCOPEVIEW_STATES=0"}} {
		if r := l.with(env, "", "run", "--budget=100%", "."); r.out != plain.out || r.code != 0 {
			t.Errorf("%v: %s, want %s", env, r, plain)
		}
	}
	dir := t.TempDir()
	if r := l.tool("test", "--keep", "-cpuprofile="+filepath.Join(dir, "cpu"), "-trace="+filepath.Join(dir, "trace"), "-o="+filepath.Join(dir, "x.test"), "."); r.code != 0 {
		t.Fatal(r)
	}
	for _, name := range []string{"cpu", "trace"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}
