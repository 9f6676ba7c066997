package hot

import (
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/scope"
)

func TestLoopsMakeAsManyScopesAsTheySay(t *testing.T) {
	const n = 2000
	for name, l := range map[string]Loop{
		"tasks": Timed(Tasks), "ints": Timed(TasksInts), "mixed": Timed(TasksMixed), "crossing": Crossing,
		"each": Timed(func(n int) { Each(n, taskA) }), "each with ints": Timed(func(n int) { Each(n, intsB) }),
	} {
		if err := scope.Start(filepath.Join(t.TempDir(), "t.scope")); err != nil {
			t.Fatal(err)
		}
		if d := l(n); d <= 0 {
			t.Errorf("%s took %v", name, d)
		}
		if err := scope.Stop(); err != nil {
			t.Fatal(err)
		}
		if s := scope.Stats(); s.Recorded != n || s.Lost.Total() != 0 {
			t.Errorf("%s: %d scopes recorded, %d lost, want %d", name, s.Recorded, s.Lost.Total(), n)
		}
	}
}

func TestAligned(t *testing.T) {
	for _, equal := range [][2]func(){Empty, Task, Ints} {
		if f, _ := Aligned(equal); f == nil {
			t.Error("there is none to call")
		}
	}
}
