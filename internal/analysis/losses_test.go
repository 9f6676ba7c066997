package analysis

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
)

// TestLossWords: each reason has words, and they are the expected ones.
func TestLossWords(t *testing.T) {
	for why := format.LossWindow; why < format.LossReasons; why++ {
		if lossReasons[why] == "" {
			t.Errorf("%v has no words", why)
		}
	}
	shm := recording{backing: format.BackingShm, buffer: 128 << 20}
	limited := recording{backing: format.BackingShm, buffer: 64 << 20, limited: true}
	for _, c := range []struct {
		l    loss
		want string
	}{
		{loss{Reason: format.LossWindow, Count: 1000}, "1,000 records were lost: 1,000 because no room was prepared for them in time (record less: scope.WithFilter, WithLockThreshold)"},
		{loss{format.LossBuffer, 13_353_666, shm}, "13,353,666 records were lost: 13,353,666 because the trace's buffer (128 MiB) was full (enlarge it: scope.WithBuffer; or record less: scope.WithFilter, WithLockThreshold)"},
		{loss{format.LossBuffer, 2, limited}, "2 records were lost: 2 because the trace's buffer (up to 64.0 MiB) was full (enlarge it: scope.WithBuffer, or the limit of memory, which bounds it; or record less: scope.WithFilter, WithLockThreshold)"},
		{loss{format.LossBuffer, 2, recording{buffer: mostBuffer}}, "2 records were lost: 2 because the trace's buffer (" + show.Size(mostBuffer) + ") was full (it is as large as can be: record less: scope.WithFilter, WithLockThreshold)"},
		{loss{Reason: format.LossBuffer, Count: 1}, "1 record was lost: 1 because the trace's buffer was full (enlarge it: scope.WithBuffer; or record less: scope.WithFilter, WithLockThreshold)"},
	} {
		if got := LossText([]loss{c.l}, c.l.Count); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestRemedies: a remedy exists in that kind of recording, and helps there. Each kind has
// the options that its remedies may name; they name all of these, and no other.
func TestRemedies(t *testing.T) {
	const small, large = 64 << 20, 1 << 30
	kinds := map[string]recording{
		"plain shm": {backing: format.BackingShm}, "plain heap": {backing: format.BackingHeap}, "plain disk": {backing: format.BackingDisk},
		"ring shm": {ring: small, backing: format.BackingShm}, "ring disk": {ring: small, backing: format.BackingDisk}, "large ring": {ring: large, backing: format.BackingShm},
		"segments shm": {ring: small, segments: true, backing: format.BackingShm}, "segments heap": {ring: small, segments: true, backing: format.BackingHeap},
		"segments disk": {ring: small, segments: true, backing: format.BackingDisk}, "large segments": {ring: large, segments: true, backing: format.BackingShm},
	}
	all := []string{"WithFilter", "WithLockThreshold", "WithRing", "WithSegments", "WithBacking(ShmBacking)", "WithLimit", "WithBuffer", "LastError"}
	less := "WithFilter WithLockThreshold"
	for _, c := range []struct {
		why  format.Loss
		want map[string]string
	}{
		{format.LossWindow, map[string]string{
			"plain shm": less, "plain heap": less, "plain disk": less + " WithBacking(ShmBacking)",
			"ring shm": less + " WithRing", "ring disk": less + " WithRing", "large ring": less,
			"segments shm": less + " WithSegments", "segments heap": less + " WithSegments", "segments disk": less + " WithSegments", "large segments": less,
		}},
		{format.LossSpace, map[string]string{
			"plain shm": "WithRing WithLimit LastError", "plain heap": "WithRing WithLimit LastError", "plain disk": "WithRing WithLimit LastError",
			"ring shm": "WithRing LastError", "ring disk": "WithRing LastError", "large ring": "WithRing LastError",
			"segments shm": "WithSegments LastError", "segments heap": "WithSegments LastError", "segments disk": "WithSegments LastError", "large segments": "WithSegments LastError",
		}},
		{format.LossIO, map[string]string{
			"plain shm": "LastError", "plain heap": "LastError", "plain disk": "LastError",
			"ring shm": "LastError", "ring disk": "LastError", "large ring": "LastError",
			"segments shm": "LastError", "segments heap": "LastError", "segments disk": "LastError WithBacking(ShmBacking)", "large segments": "LastError",
		}},
		{format.LossOpen, map[string]string{
			"ring shm": "WithRing", "ring disk": "WithRing", "large ring": "WithRing",
			"segments shm": "WithSegments", "segments heap": "WithSegments", "segments disk": "WithSegments", "large segments": "WithSegments",
		}},
		{format.LossBuffer, map[string]string{
			"plain shm": less + " WithBuffer", "plain heap": less + " WithBuffer",
			"segments shm": less + " WithBuffer WithSegments", "segments heap": less + " WithBuffer WithSegments", "large segments": less + " WithBuffer",
		}},
		{format.LossLimit, map[string]string{"plain shm": "WithLimit WithRing WithFilter", "plain heap": "WithLimit WithRing WithFilter", "plain disk": "WithLimit WithRing WithFilter"}},
	} {
		for name, want := range c.want {
			got := kinds[name].remedy(c.why)
			for _, option := range all {
				if named, wanted := strings.Contains(got, option), strings.Contains(" "+want+" ", " "+option+" "); named != wanted {
					t.Errorf("%s, lost by %v: %q; it names %s: %t, want %t", name, c.why, got, option, named, wanted)
				}
			}
		}
	}
}
