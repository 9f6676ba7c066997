//go:build !scope_off

package gotrace

import (
	"runtime/trace"
	"testing"
)

// batches counts the batches that Go's tracer writes.
type batches struct{ all, stacks int }

func (b *batches) Write(p []byte) (int, error) {
	b.all++
	if ofStacks(p) {
		b.stacks++
	}
	return len(p), nil
}

// TestOfStacks: ofStacks recognizes some of the batches of Go's tracer, and none that are cut off.
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
