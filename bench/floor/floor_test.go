package floor

import "testing"

func TestTimeRunsForwards(t *testing.T) {
	a := now()
	Loop(1000)
	if b := now(); backwards || b <= a {
		t.Errorf("the clock went from %d to %d in 1000 scopes (backwards in one: %v), want it to go on", a, b, backwards)
	}
}

func BenchmarkFloor(b *testing.B) { Loop(b.N) }

func BenchmarkEmpty(b *testing.B) { Empty(b.N) }
