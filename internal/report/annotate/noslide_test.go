package annotate

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// TestWhyNoAddress: for samples that can't be mapped to the executable, the report names what they
// lack.
func TestWhyNoAddress(t *testing.T) {
	stack := func(pc uint64) []samples.Stack {
		return []samples.Stack{{Frames: []*symbols.Frame{{Func: "main.f", Line: 3, PC: pc}}}}
	}
	for _, c := range []struct {
		p    samples.Profile
		want string
	}{
		{samples.Profile{}, "there are no samples and no waits"},
		{samples.Profile{Stacks: stack(0)}, "there are no samples, and the waits have no addresses"},
		{samples.Profile{Samples: 1, Stacks: stack(0)}, "the samples have no addresses"},
		{samples.Profile{Samples: 1, Stacks: stack(77)}, "no sampled address is in the executable"},
	} {
		if got := noSlide(&c.p); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
