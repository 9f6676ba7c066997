package trace

// Entries is how much a Follower keeps in its tables.
func (f *Follower) Entries() int {
	return len(f.t.chunks) + len(f.t.tails) + len(f.t.beats) + len(f.t.carried) + len(f.t.lapped.chunks) +
		len(f.unborn) + len(f.live) + len(f.open) + len(f.ring.gone) + len(f.ring.told) + len(f.ring.closing) +
		len(f.t.sched.parts) + len(f.t.sched.switches) + len(f.t.sched.locks)
}
