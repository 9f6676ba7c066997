package gotrace

import (
	"strings"
	"testing"
)

// TestWithoutBegin: the functions that goroutines begin with are left out, in their order
// on stacks, and functions of the same name elsewhere are not; one function always stays.
func TestWithoutBegin(t *testing.T) {
	const begin = "github.com/scopeview/scopeview/internal/record.Go.func1"
	for stack, want := range map[string]int{
		"":                              0,
		"runtime.goexit":                1,
		"main.f":                        1,
		"main.f main.g":                 2,
		"main.f runtime.goexit":         1,
		"main.f main.main runtime.main": 2,
		"main.f main.main runtime.main runtime.goexit": 2,
		"main.f " + begin:                     1,
		"main.f " + begin + " runtime.goexit": 1,
		begin + " runtime.goexit":             1,
		"runtime.main runtime.goexit":         1,
		"runtime.goexit main.f":               2,
		"main.f " + begin + " main.g":         3,
		"main.f runtime.main.func1":           2,
	} {
		frames := strings.Fields(stack)
		if got := WithoutBegin(len(frames), func(i int) string { return frames[i] }); got != want {
			t.Errorf("%q: %d are left, want %d", stack, got, want)
		}
	}
}
