package peer

import (
	"maps"
	"testing"
)

// Each peer must record the scopes it is measured with: all of them, by their
// names, nested as they were.
func TestPeersRecordTheSameScopes(t *testing.T) {
	const loops, nests = 1000, 20
	want := map[string]int64{"f1": loops, "f2": nests, "f2/f1": 2 * nests, "f2/f3": nests}
	for _, p := range []Peer{&Regions{ReadBack: true}, &OTel{Wait: true}, &ChromeTracing{ReadBack: true}, &Pool2014{}, &Pool2014{CPU: true}} {
		t.Run(p.Name(), func(t *testing.T) {
			if err := p.Start(t.TempDir()); err != nil {
				t.Fatal(err)
			}
			p.Loop(loops)
			for range nests {
				p.Nest("f2", "f1", "f3", "f1")
			}
			rec, err := p.Stop()
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(rec.Paths, want) {
				t.Errorf("recorded %v, want %v", rec.Paths, want)
			}
			if n := int64(loops + 4*nests); rec.Scopes != n {
				t.Errorf("%d scopes recorded, want %d", rec.Scopes, n)
			}
		})
	}
}

// TestPeersStartAgain: each peer of All can be started again after its end.
func TestPeersStartAgain(t *testing.T) {
	for _, p := range All() {
		t.Run(p.Name(), func(t *testing.T) {
			for range 3 {
				if err := p.Start(t.TempDir()); err != nil {
					t.Fatal(err)
				}
				p.Loop(100)
				if rec, err := p.Stop(); err != nil || rec.Scopes != 100 && !rec.KeepsNone {
					t.Errorf("%d scopes recorded, error %v, want 100", rec.Scopes, err)
				}
			}
		})
	}
}
