//go:build !scope_off

package gotrace

import (
	"runtime/trace"
	"testing"
)

// batches counts what Go's tracer writes.
type batches struct{ all, stacks int }

func (b *batches) Write(p []byte) (int, error) {
	b.all++
	if ofStacks(p) {
		b.stacks++
	}
	return len(p), nil
}

// TestOfStacks: of what Go's tracer writes some batches are of stacks, and others are not. What is
// cut off is none.
func TestOfStacks(t *testing.T) {
	var b batches
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() { done <- true }()
	<-done
	trace.Stop()
	if b.stacks == 0 || b.stacks >= b.all/2 {
		t.Errorf("%d of %d batches are of stacks", b.stacks, b.all)
	}
	for _, c := range []struct {
		text string
		want bool
	}{
		{"\x01\x01\x05\x80\x01\x03\x02xx", true}, {"\x01\x01\x05\x80\x01\x03\x04xx", false},
		{"\x02\x01\x05\x80\x01\x03\x02xx", false}, {"\x01\x01\x05\x80", false}, {"\x01", false}, {"", false},
	} {
		if got := ofStacks([]byte(c.text)); got != c.want {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}

// TestBears: a trace that was given up is tried again once what it took, and what another try would
// take, was earned.
func TestBears(t *testing.T) {
	a := account{owed: 10, tried: 5}
	for owed, want := range map[float64]bool{10: false, 0: false, -4: false, -5: true, -6: true} {
		if a.owed = owed; a.bears() != want {
			t.Errorf("%v owed, and %v for a try: %v", owed, a.tried, !want)
		}
	}
	a.owed = -6
	a.begin()
	if a.owed != -6 || a.tried != 5 || a.asked || a.since.IsZero() {
		t.Errorf("%+v", a)
	}
}
