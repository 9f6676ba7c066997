//go:build !scope_off

package record_test

import (
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/record"
)

// TestReleasesLookedAtAgain: a goroutine that begins to wait when there is time again makes
// releases be checked, however rare they are: otherwise the holder of a rarely released lock would
// stay unknown.
func TestReleasesLookedAtAgain(t *testing.T) {
	start(t)
	const addr = 0x7300
	defer record.SetHookShares(5000, 5000, 5000)
	waits := []record.HookedWait{record.BeginHookedWait(addr, record.MutexWhat)}
	record.SetHookShares(0, 0, 0)
	until(t, "releases to pass by", func() bool {
		record.HookedUnlock(addr, record.MutexWhat)
		return record.ReleasesPass()
	})
	record.SetHookShares(5000, 5000, 5000)
	begin := time.Now()
	until(t, "releases to be looked at", func() bool {
		waits = append(waits, record.BeginHookedWait(addr, record.MutexWhat))
		return !record.ReleasesPass()
	})
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("they were looked at after %v", took)
	}
	for _, w := range waits {
		record.EndHookedWait(addr, w)
	}
}
