package csv

import (
	"encoding/json"
	"os"
	"testing"
)

// TestCells: the page, which exports CSV too, has the same columns and the same cells. Its tests read the
// same examples.
func TestCells(t *testing.T) {
	var examples struct {
		Header string
		Cells  map[string]string
	}
	b, err := os.ReadFile("testdata/cells.json")
	if err == nil {
		err = json.Unmarshal(b, &examples)
	}
	if err != nil || len(examples.Cells) < 20 {
		t.Fatal(len(examples.Cells), err)
	}
	if examples.Header != Header {
		t.Errorf("the header is %q, want %q", Header, examples.Header)
	}
	for text, want := range examples.Cells {
		if got := string(appendCell(nil, text, false)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
