package format

import (
	"encoding/json"
	"os"
	"testing"
)

// TestShortFunction: the page's tests read the same examples.
func TestShortFunction(t *testing.T) {
	var examples map[string]string
	b, err := os.ReadFile("testdata/functions.json")
	if err == nil {
		err = json.Unmarshal(b, &examples)
	}
	if err != nil || len(examples) < 20 {
		t.Fatal(len(examples), err)
	}
	for name, want := range examples {
		if got := ShortFunction(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
