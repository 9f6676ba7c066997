//go:build linux && amd64 && !scope_off && !scope_pure && !scope_go && !scope_norseq && !scope_noyield && !scope_nogoid && !race

package cputest

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// tolerance is the maximum difference of a CPU time from the truth that does not count
// as wrong. The clocks' grains are below 0.1 µs, reading a thread's CPU clock takes at
// most 3 µs, and the rest is for the operating system's work in between.
const tolerance = 20_000 // ns

// grain is by how much times of the two clocks may differ.
const grain = 1000 // ns

// want has the requirements of a case.
type want struct {
	scopes int // as many scopes at least
	known  int // as many with a CPU time, exact or likely
	bounds int // as many with an upper bound
}

// check compares each scope with the truth.
func check(t *testing.T, all []checked, w want) {
	t.Helper()
	var n [4]int
	var errs, over, slack []int64
	hopped, wrong, low := 0, 0, 0
	for i := range all {
		c := &all[i]
		n[c.Quality]++
		if c.Open {
			t.Errorf("scope %d is open", i)
		}
		if c.first.at < c.Start-grain || c.last.at > c.Start+c.Dur+grain {
			t.Fatalf("scope %d lies from %v to %v, what was read in it from %v to %v", i, ns(c.Start), ns(c.Start+c.Dur), ns(c.first.at), ns(c.last.at))
		}
		bad := func(format string, args ...any) {
			if wrong++; wrong <= 10 {
				t.Errorf("scope %d, %s: %s", i, c, fmt.Sprintf(format, args...))
			}
		}
		switch c.Quality {
		case format.Exact, format.Likely:
			errs = append(errs, c.CPU-c.least)
			if c.first.tid != 0 && c.first.tid == c.last.tid {
				over = append(over, c.CPU-(c.last.cpu-c.first.cpu))
			}
			if most := c.upper(); c.CPU > most+tolerance && !(c.Quality == format.Likely && c.wrapped(0)) {
				bad("%v too much", ns(c.CPU-most))
			}
			if c.drifted && c.CPU < c.least-c.drift-tolerance {
				bad("%v too little", ns(c.least-c.CPU))
			}
			if c.Quality == format.Exact && (c.yields != 0 || c.Dur > format.ExactBelow+grain) {
				bad("it can't be exact")
			}
		case format.AtMost:
			slack = append(slack, c.CPU-c.least)
			if c.hops > 0 {
				hopped++
			}
			if c.drifted && c.CPU < c.least-c.drift-tolerance {
				low++
				// One yield is not enough to go to another thread and come back,
				// but one and a scan are, which the recorder can't see.
				if c.hops < 2 || c.scans == 0 && !c.wrapped(1) {
					bad("%v too low for an upper bound", ns(c.least-c.CPU))
				}
			}
		case format.Unknown:
			if c.CPU != 0 {
				bad("unknown, but a number")
			}
		}
		if c.CPU < 0 || c.CPU > c.Dur {
			bad("not within [0, %v]", ns(c.Dur))
		}
	}
	slices.Sort(over)
	if wrong > 10 {
		t.Errorf("%d scopes are wrong", wrong)
	}
	t.Logf("%d scopes: %d exact, %d likely, %d at most (%d hopped, %d too low), %d unknown", len(all), n[format.Exact], n[format.Likely], n[format.AtMost], hopped, low, n[format.Unknown])
	t.Logf("CPU beyond the computing that is known: %s; bounds: %s", spread(errs), spread(slack))
	// The thread's own clock, too, says that the thread did not use more. It was
	// read inside of the scope, and leaves out what a machine's host takes, so
	// some scopes may.
	if much := len(over) - sort.Search(len(over), func(i int) bool { return over[i] > 5*tolerance }); much > 5+len(over)/10 {
		t.Errorf("%d of %d CPU times are longer than what the thread's clock says: %s", much, len(over), spread(over))
	}
	if len(all) < w.scopes || n[format.Exact]+n[format.Likely] < w.known || n[format.AtMost] < w.bounds {
		t.Errorf("%d scopes, %d known, %d bounds; the case is to have %d, %d, %d", len(all), n[format.Exact]+n[format.Likely], n[format.AtMost], w.scopes, w.known, w.bounds)
	}
}

// wrapped reports whether the byte by which the recorder sees that the goroutine
// yielded may have come back to what it was, or to up to more than that.
func (c *checked) wrapped(more int) bool {
	return c.around >= 256 && c.around%256 <= c.around-c.yields+c.scans+c.lost+more
}

// upper is the most that the goroutine can have used in the scope.
func (c *checked) upper() int64 {
	switch {
	case c.around == 0:
		return c.Dur // it had its thread all the time
	case c.yields == 0:
		return max(c.most, c.last.at-c.first.at) // most of the time
	}
	return c.most
}

func (c *checked) String() string {
	return fmt.Sprintf("%s, %v of %v (truth: %v to %v; %d yields within and %d around, %d hops, %d scans; clock drifted by %v)",
		c.Quality, ns(c.CPU), ns(c.Dur), ns(c.least), ns(c.upper()), c.yields, c.around, c.hops, c.scans, ns(c.drift))
}

func ns(n int64) time.Duration { return time.Duration(n) }

// spread prints the distribution of some durations.
func spread(d []int64) string {
	if len(d) == 0 {
		return "none"
	}
	d = slices.Sorted(slices.Values(d))
	var b strings.Builder
	for _, p := range []int{1, 50, 90, 99} {
		fmt.Fprintf(&b, "p%d %v, ", p, ns(d[len(d)*p/100]))
	}
	return fmt.Sprintf("%smax %v", &b, ns(d[len(d)-1]))
}

func median(d []int64) int64 { return slices.Sorted(slices.Values(d))[len(d)/2] }
