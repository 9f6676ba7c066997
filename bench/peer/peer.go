// Package peer makes other tracers record scopes, for measuring them like ours: the Go
// execution tracer's regions, OpenTelemetry's SDK, Google's chrometracing, the labels of the
// CPU profile, and the design of 2014 in which all records share one atomic counter.
//
// Tests check that each of them records the measured scopes: a peer that drops or merges
// scopes would look fast.
package peer

// Peer is a tracer that is measured.
type Peer interface {
	// Name returns the name in the table.
	Name() string
	// Start starts recording, into dir if it needs a file.
	Start(dir string) error
	// Loop records n scopes called "f1", one after the other, in the way of the peer's
	// documentation.
	Loop(n int)
	// Nest records a scope called outer, and within it each inner one.
	Nest(outer string, inner ...string)
	// Stop ends the recording and returns the result.
	Stop() (Recorded, error)
}

// Recorded is the result of a peer: the number of scopes by path, joined by slashes. If
// reading the trace back would take longer than the measurement, only the total is counted
// and Paths is nil.
type Recorded struct {
	Scopes int64
	Paths  map[string]int64
	// KeepsNone reports that the peer does not record scopes.
	KeepsNone bool
}

// All lists the peers.
func All() []Peer {
	return []Peer{&Regions{}, &OTel{}, &ChromeTracing{}, &Labels{}, &Pool2014{}, &Pool2014{CPU: true}}
}
