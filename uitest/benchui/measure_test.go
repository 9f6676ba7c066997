package main

import (
	"os"
	"slices"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7}, {[]float64{3, 1, 2}, 2}, {[]float64{5, 1, 4, 2, 3}, 3}, {[]float64{9, 1, 1}, 1},
		{[]float64{4, 1, 3, 2}, 3}, // the worse of the two in the middle
	} {
		before := slices.Clone(test.values)
		if got := median(test.values); got != test.want || !slices.Equal(before, test.values) {
			t.Errorf("of %v it is %v, want %v; they are %v now", before, got, test.want, test.values)
		}
	}
}

// TestPeakMemory: the peak stays when the memory is given back.
func TestPeakMemory(t *testing.T) {
	before, err := peakMemory(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	const size = 64 << 20
	touch := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		touch[i] = 1
	}
	after, err := peakMemory(os.Getpid())
	if err != nil || before <= 0 || after < max(before, 64) {
		t.Errorf("%v MiB, then %v MiB, %v", before, after, err)
	}
	if _, err := peakMemory(1 << 30); err == nil {
		t.Error("there is a process with an impossible number")
	}
}
