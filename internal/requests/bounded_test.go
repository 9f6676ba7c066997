package requests

import (
	"strconv"
	"strings"
	"testing"
)

func TestBounded(t *testing.T) {
	b := Bounded{Prefix: "gRPC ", Other: "other methods"}
	if got := b.Of(strings.Repeat("x", maxBounded+1)); got != "gRPC other methods" {
		t.Errorf("a long one is %q", got)
	}
	for range 2 {
		for i := range 2 * maxNames {
			want := "gRPC other methods"
			if i < maxNames {
				want = "gRPC " + strconv.Itoa(i)
			}
			if got := b.Of(strconv.Itoa(i)); got != want {
				t.Fatalf("%d is %q, want %q", i, got, want)
			}
		}
	}
}
