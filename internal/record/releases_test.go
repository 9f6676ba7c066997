//go:build !scope_off

package record

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestReleaseMissed: notes on a lock from before a release that was not checked are not used for a
// later release; later notes are.
func TestReleaseMissed(t *testing.T) {
	const addr, one, two = 0x7000, 11, 12
	was := ownersKnown.Swap(0)
	defer ownersKnown.Store(was)
	lets := func(what string, goid uint64, want release, ok bool) {
		t.Helper()
		rel, found := ownLets(addr, goid, false)
		if found != ok || found && rel != want {
			t.Errorf("%s: %+v, %v; want %+v, %v", what, rel, found, want, ok)
		}
	}
	waits := func(what string, now int64, want uint64) {
		t.Helper()
		if holder := ownWaits(addr, now); holder != want {
			t.Errorf("%s: held by %d, want %d", what, holder, want)
		}
	}
	if ownersAt(addr).wanted() {
		t.Fatal("somebody waits at first")
	}
	waits("the first", 100, 0)
	waits("the second", 110, 0)
	if !ownersAt(addr).wanted() {
		t.Error("nobody waits")
	}
	lets("all looked at", one, release{start: 100}, true)

	waits("a third", 120, 0)
	ownMissed(130, 10)
	lets("one missed since it was seen", one, release{}, false)
	ownSeen(addr, 150)
	lets("seen since", one, release{start: 150}, true)

	ownGot(addr, two, 200, 7)
	waits("after the waiter", 210, two)
	ownMissed(220, 10)
	waits("after one that was missed", 240, 0)
	lets("he has had it again", two, release{start: 240, site: 7}, true)

	ownGot(addr, two, 300, 8)
	lets("all looked at again", two, release{start: 300, exact: true, site: 8}, true)

	known := ownersKnown.Load()
	ownMissed(known-9, 10) // so soon after the last one, it has no effect
	if got := ownersKnown.Load(); got != known {
		t.Errorf("known since %d, want %d", got, known)
	}
	for range 2 {
		ownGot(addr, one, 400, 9)
	}
	if ownGot(addr, one, 410, 9); ownersAt(addr).wanted() {
		t.Error("somebody waits at the end")
	}
}

// TestReleasesPassBy: while releases are skipped, notes count as unknown, and stay so afterwards;
// and clearing the state does not undo a concurrent setting.
func TestReleasesPassBy(t *testing.T) {
	const addr, one, two = 0x7100, 11, 12
	was := ownersKnown.Swap(0)
	defer ownersKnown.Store(was)
	now := int64(100)
	clock := func() int64 { now += 10; return now }
	if ownersShut.Load()&1 != 0 {
		ownOpen(ownersShut.Load(), clock(), 0)
	}
	waits := func(what string, want uint64) {
		t.Helper()
		if holder := ownWaits(addr, clock()); holder != want {
			t.Errorf("%s: held by %d, want %d", what, holder, want)
		}
	}
	waits("the first", 0)
	waits("the second", 0)
	ownGot(addr, one, clock(), 7)
	waits("noted", one)

	open := ownersShut.Load()
	ownShut(open)
	shut := ownersShut.Load()
	waits("while they pass by", 0)
	ownGot(addr, two, clock(), 7)
	waits("noted while they pass by", 0)
	if rel, ok := ownLets(addr, two, false); ok {
		t.Errorf("%+v for a release while others passed by", rel)
	}
	ownGot(addr, two, clock(), 7)

	ownShut(shut) // by a goroutine that was refused, while another one clears it
	if ownOpen(shut, clock(), 1) {
		t.Error("it is open, though one was refused since")
	}
	waits("shut again", 0)
	if !ownOpen(ownersShut.Load(), clock(), 1) || ownersShut.Load()&1 != 0 {
		t.Error("it is still shut")
	}
	waits("noted before it was opened", 0)
	if rel, ok := ownLets(addr, two, false); ok && rel.start <= now-20 {
		t.Errorf("%+v has a release from before it was opened", rel)
	}
	ownGot(addr, one, clock(), 7)
	waits("noted since", one)
	for ownersAt(addr).wanted() {
		ownGot(addr, 0, clock(), 0)
	}
}

// TestReleasesCounted: each skipped release is counted once, and one of lookOneOf is not skipped.
func TestReleasesCounted(t *testing.T) {
	const each, threads = 10_000, 4
	passedBy()
	var b = ownersAt(0x7200)
	var counted, looked atomic.Int64
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			for range each {
				passed, does := b.passes()
				counted.Add(passed)
				if !does {
					looked.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := counted.Load() + passedBy() + looked.Load(); n != each*threads {
		t.Errorf("%d of %d are counted", n, each*threads)
	}
	if n := looked.Load(); n > each*threads/lookOneOf || n < each*threads/lookOneOf/2 {
		t.Errorf("%d of %d were looked at, want one of %d", n, each*threads, lookOneOf)
	}
}
