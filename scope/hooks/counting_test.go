//go:build !scope_off

package hooks

import (
	"errors"
	"testing"
)

// TestCounting: counting ends with the program, unless it could not begin.
func TestCounting(t *testing.T) {
	defer func() { countingEnds = nil }()
	ended := false
	end := func() error { ended = true; return nil }
	counting(func(string, func() bool) error { return errors.New("there is no room") }, end)
	if countingEnds != nil {
		t.Fatal("what did not begin is to be ended")
	}
	was := isAsleep
	defer func() { isAsleep = was }()
	asleep := func() bool { return false }
	counting(func(_ string, f func() bool) error { asleep = f; return nil }, end)
	isAsleep = nil
	if asleep() {
		t.Error("nobody knows of a deadlock, and one is reported")
	}
	isAsleep = func() bool { return true }
	if !asleep() {
		t.Error("a deadlock is not reported")
	}
	if countingEnds == nil || countingEnds() != nil || !ended {
		t.Error("what has begun does not end")
	}
}
