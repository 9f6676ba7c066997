//go:build !linux

package perf

import (
	"errors"

	"github.com/scopeview/scopeview/internal/collect"
)

// Switches records when threads come onto CPUs and leave them, where the system is
// Linux.
type Switches struct{}

// Start tells why there is nothing to record.
func (*Switches) Start(rec collect.Recording) error {
	err := errors.New("thread switches are recorded on Linux only")
	rec.Fact(FactSwitches, "off: "+err.Error())
	return err
}

// Spent is 0.
func (*Switches) Spent() int64 { return 0 }

// Pause does nothing.
func (*Switches) Pause(bool) {}

// Paused is false.
func (*Switches) Paused() bool { return false }

// Snapshot does nothing.
func (*Switches) Snapshot() {}

// Stop does nothing.
func (*Switches) Stop() {}

// Sampler samples where threads are, where the system is Linux.
type Sampler struct{}

// Start tells why there is nothing to sample.
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
