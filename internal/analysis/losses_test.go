package analysis

import (
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// TestLossWords compares the words of each reason: none is without.
func TestLossWords(t *testing.T) {
	for why := format.LossWindow; why < format.LossReasons; why++ {
		if lossReasons[why] == "" {
			t.Errorf("%v has no words", why)
		}
	}
	for _, c := range []struct {
		l    loss
		want string
	}{
		{loss{Reason: format.LossWindow, Count: 1000}, "1,000 records were lost: 1,000 because no room was prepared for them in time (record less: scope.WithFilter, WithLockThreshold; a larger scope.WithRing takes larger bursts)"},
		{loss{format.LossBuffer, 13_353_666, Size(128 << 20)}, "13,353,666 records were lost: 13,353,666 because the trace's buffer (128 MiB) was full (enlarge it: scope.WithBuffer; or record less: scope.WithFilter, WithLockThreshold)"},
		{loss{Reason: format.LossBuffer, Count: 1}, "1 record was lost: 1 because the trace's buffer was full (enlarge it: scope.WithBuffer; or record less: scope.WithFilter, WithLockThreshold)"},
	} {
		if got := LossText([]loss{c.l}, c.l.Count); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
