package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"time"
)

// A resource exists only once in Go: take begins it, and give ends it and returns its output.
type resource struct {
	name string
	take func() error
	give func() ([]byte, error)
}

func resources() []resource {
	var exec, cpu bytes.Buffer
	flight := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: time.Minute})
	return []resource{
		{"trace", func() error { return trace.Start(&exec) },
			func() ([]byte, error) { trace.Stop(); return exec.Bytes(), nil }},
		{"cpu", func() error { return pprof.StartCPUProfile(&cpu) },
			func() ([]byte, error) { pprof.StopCPUProfile(); return cpu.Bytes(), nil }},
		{"flight", flight.Start, func() ([]byte, error) {
			var b bytes.Buffer
			_, err := flight.WriteTo(&b)
			flight.Stop()
			return b.Bytes(), err
		}},
	}
}

// orders are the orders of a recording and a resource of the program: r takes the resource, R gives it
// back, b begins the recording, and e ends it.
var orders = map[string]string{"around": "rbeR", "within": "brRe", "before": "rbRe", "behind": "breR", "after": "berR", "twice": "brRrRe"}

func init() {
	for name, order := range orders {
		cases[name] = func() {
			for i := range resources() {
				inOrder(name, order, i)
			}
		}
	}
	cases["all"] = func() { all() }
}

func inOrder(name, order string, i int) {
	r, n := resources()[i], 0
	for _, step := range order {
		switch {
		case step == 'r':
			r = resources()[i]
			if err := r.take(); err != nil {
				fmt.Printf("%s: taken: %v\n", r.name, err)
				r.take = nil
			}
		case step == 'R' && r.take != nil:
			b, err := r.give()
			n++
			keep(fmt.Sprintf("%s-%s-%d", name, r.name, n), b, err)
		case step == 'b' && begin != nil:
			begin()
		case step == 'e' && end != nil:
			end()
		}
		burn(10 * time.Millisecond)
	}
}

// all takes all at once, and begins each a second time, which Go refuses.
func all() {
	list := resources()
	for _, r := range list {
		fmt.Println(r.name, r.take(), r.take())
	}
	burn(100 * time.Millisecond)
	for _, r := range list {
		b, err := r.give()
		keep("all-"+r.name, b, err)
	}
	fmt.Println(trace.IsEnabled())
}

// keep writes the output of a resource to the directory in OUT, where the test reads it.
func keep(name string, b []byte, err error) {
	fmt.Println(name, len(b) > 0, err)
	if dir := os.Getenv("OUT"); dir != "" {
		if err := os.WriteFile(dir+"/"+name, b, 0o600); err != nil {
			fmt.Println(err)
		}
	}
}
