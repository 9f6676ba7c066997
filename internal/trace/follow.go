package trace

import "io"

// FollowOptions tell a Follower where to begin.
type FollowOptions struct {
	FromStart bool // deliver what the trace holds already; else only what ends from now on
	Open      bool // know the open scopes of the whole trace, for Open: one pass over it at the start
}

// Follower reads a trace while it is being written.
type Follower struct{}

// NewFollower opens the trace for following; size tells how long it is now.
func NewFollower(r io.ReaderAt, size func() (int64, error), o FollowOptions) (*Follower, error) {
	panic("stub")
}

// Trace is what is known so far: header, names, heartbeats. Good between polls.
func (f *Follower) Trace() *Trace { panic("stub") }

// Poll calls fn once with every scope that ended, and every instant, counter,
// track and go record that came, since the last call, by the time of their end.
// done tells that the trace was closed and nothing will follow.
func (f *Follower) Poll(fn func(*Event) bool) (done bool, err error) { panic("stub") }

// Open calls fn with the scopes that are open, by their begin.
func (f *Follower) Open(fn func(*Event) bool) error { panic("stub") }
