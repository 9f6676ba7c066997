//go:build !scope_off

package gotrace_test

import (
	"io"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// TestGivenBack: the program announces what it takes, as hooks do. That alone is given back, and
// taken again when the program has ended it.
func TestGivenBack(t *testing.T) {
	type run struct {
		start func(by any) error
		stop  func()
	}
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	runs := [collect.Resources]run{
		collect.CPUProfile:     {func(by any) error { return pprof.StartCPUProfile(by.(io.Writer)) }, pprof.StopCPUProfile},
		collect.ExecutionTrace: {func(by any) error { return trace.Start(by.(io.Writer)) }, trace.Stop},
		collect.FlightRecorder: {func(any) error { return recorder.Start() }, recorder.Stop},
	}
	for _, c := range []struct {
		name string
		opts []scope.Option
		of   collect.Resource
		by   any
		had  bool // whether the recording has it
		fact string
		then string // the fact's new value
		rest string // another fact, which stays
	}{
		{"profile", nil, collect.CPUProfile, io.Discard, true, "gotrace_profile", "off: the program takes a CPU profile itself", "gotrace"},
		{"trace", nil, collect.ExecutionTrace, io.Discard, true, "gotrace", "off: the program takes an execution trace itself", "gotrace_profile"},
		{"flight recorder beside the trace", nil, collect.FlightRecorder, recorder, false, "gotrace", "on", "gotrace_profile"},
		{"flight recorder", []scope.Option{scope.WithRing(scope.MinRing)}, collect.FlightRecorder, recorder, true, "gotrace", "off: the program runs a flight recorder itself", "gotrace_profile"},
		{"trace beside the flight recorder", []scope.Option{scope.WithRing(scope.MinRing)}, collect.ExecutionTrace, io.Discard, false, "gotrace", "on", "gotrace_profile"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := begin(t, append(c.opts, gotrace.With())...)
			r.becomes(c.rest, "on")
			works()
			if c.had && runs[c.of].start(c.by) == nil {
				t.Fatal("it was free")
			}
			release := (*collect.GiveBack.Load())(c.of, c.by)
			err := runs[c.of].start(c.by)
			release()
			if err != nil {
				t.Fatal(err)
			}
			r.becomes(c.fact, c.then)
			works()
			if s := r.fact(c.rest); !strings.HasPrefix(s, "on") {
				t.Errorf("%s is %q", c.rest, s)
			}
			runs[c.of].stop()
			r.becomes(c.fact, "on")
			works()
			r.stop()
			story(t, r.path)
		})
	}
}

// TestNothingTaken: giving back takes nothing on the program's goroutine, whatever is free.
func TestNothingTaken(t *testing.T) {
	if err := trace.Start(io.Discard); err != nil {
		t.Fatal(err)
	}
	r := begin(t, gotrace.With(), scope.WithHeartbeat(time.Hour))
	trace.Stop()
	(*collect.GiveBack.Load())(collect.CPUProfile, io.Discard)()
	if trace.IsEnabled() {
		t.Error("the execution trace was taken")
	}
	r.stop()
}
