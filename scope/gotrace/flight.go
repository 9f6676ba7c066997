//go:build !scope_off

package gotrace

import (
	"fmt"
	"runtime/trace"
	"sync/atomic"
	"time"
)

// flight is the flight recorder, the source for rings.
type flight struct {
	c  *collector
	fr *trace.FlightRecorder

	before int64 // switches at its start
}

// Limits of what the flight recorder keeps in memory. It gets at most a quarter of
// a small ring, so that a snapshot has room for scopes too.
const (
	flightAge   = 10 * time.Second
	flightBytes = 16 << 20
)

// ownRecorder is the flight recorder that this package started last.
var ownRecorder atomic.Pointer[trace.FlightRecorder]

func startFlight(c *collector) (*flight, error) {
	f := &flight{c: c, before: switches(), fr: trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: flightAge, MaxBytes: min(flightBytes, uint64(c.rec.Ring()/4))})}
	ownRecorder.Store(f.fr)
	if err := f.fr.Start(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *flight) tick() error { return nil }

func (f *flight) spent() int64 { return perSwitch * (switches() - f.before) }

func (f *flight) snapshot() error {
	w := f.c.writer()
	w.patient = true
	if _, err := f.fr.WriteTo(w); err != nil {
		_ = w.close()
		return fmt.Errorf("the flight recorder could not be written: %w", err)
	}
	return w.close()
}

func (f *flight) end() error {
	err := f.snapshot()
	f.fr.Stop()
	return err
}
