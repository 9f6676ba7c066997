// Package peer makes other tracers record scopes, so that they can be measured
// beside ours: the Go execution tracer's regions, OpenTelemetry's SDK, Google's
// chrometracing, the labels of the CPU profile, and the design of 2014 in which all
// records share one atomic counter.
//
// That each of them records the scopes it is measured with is tested: a peer
// that drops or merges scopes would look fast.
package peer

// Peer is a tracer that is measured.
type Peer interface {
	// Name is what the table calls it.
	Name() string
	// Start begins to record, into dir where it needs a file.
	Start(dir string) error
	// Loop records n scopes called "f1", one after the other, the way the
	// peer's documentation shows.
	Loop(n int)
	// Nest records a scope called outer, and within it each inner one.
	Nest(outer string, inner ...string)
	// Stop ends the recording and returns what was recorded.
	Stop() (Recorded, error)
}

// Recorded is what a peer kept: how often each path of scopes, joined by
// slashes, is in its trace. Where reading the trace back would take longer than
// the measurement, a peer only counts: Paths is nil then.
type Recorded struct {
	Scopes int64
	Paths  map[string]int64
	// KeepsNone says that the peer does something else than to record scopes.
	KeepsNone bool
}

// All lists the peers.
func All() []Peer {
	return []Peer{&Regions{}, &OTel{}, &ChromeTracing{}, &Labels{}, &Pool2014{}, &Pool2014{CPU: true}}
}
