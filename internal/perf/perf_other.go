//go:build !linux

package perf

import (
	"errors"

	"github.com/scopeview/scopeview/internal/collect"
)

// Switches is only implemented on Linux.
type Switches struct{}

// Start returns an error, and records it as a fact.
func (*Switches) Start(rec collect.Recording) error {
	err := errors.New("thread switches are recorded on Linux only")
	rec.Fact(FactSwitches, "off: "+err.Error())
	return err
}

// Spent returns 0.
func (*Switches) Spent() int64 { return 0 }

// Pause does nothing.
func (*Switches) Pause(bool) {}

// Paused returns false.
func (*Switches) Paused() bool { return false }

// Snapshot does nothing.
func (*Switches) Snapshot() {}

// Stop does nothing.
func (*Switches) Stop() {}

// Sampler is only implemented on Linux.
type Sampler struct{}

// Start returns false, and records as facts why there are no counters.
func (*Sampler) Start(rec collect.Recording, _ *OwnNamer, counters []Counter) bool {
	for _, c := range counters {
		_, err := c.find()
		if err == nil {
			err = errors.New("counters are recorded on Linux only")
		}
		rec.Fact(factCounter+c.Name, "off: "+err.Error())
	}
	return false
}

// Snapshot does nothing.
func (*Sampler) Snapshot() {}

// Stop does nothing.
func (*Sampler) Stop() {}
