package std

import (
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestHooksAreSetFirst: the file that sets the hooks does so in the initialization of a variable,
// which comes before the init that begins the recording: its goroutines call hooks.
func TestHooksAreSetFirst(t *testing.T) {
	_, linked, _, err := Patches(gorootOf(t), runtime.Version(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	text := string(linked)
	_, set, _ := strings.Cut(text, "\nvar _ = func() int {\n")
	set, _, ok := strings.Cut(set, "\n}()\n")
	assigned := regexp.MustCompile(`(?m)^\tstd\w+ = `)
	if n := len(assigned.FindAllString(set, -1)); !ok || n == 0 || n != len(assigned.FindAllString(text, -1)) {
		t.Errorf("%d hooks are set there, of %d:\n%s", n, len(assigned.FindAllString(text, -1)), text)
	}
}
