package scopeview_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestArchitectureNamesFiles: the files and folders that ARCHITECTURE.md names exist, and
// it stays as short as it is meant to be read.
func TestArchitectureNamesFiles(t *testing.T) {
	page := string(read(t, "ARCHITECTURE.md"))
	names := regexp.MustCompile("`((?:scope|internal|mmpool|flusher|sweeper|export|cmd|examples|bench)(?:/[A-Za-z0-9_.-]+)*)`").FindAllStringSubmatch(page, -1)
	if len(names) < 50 {
		t.Errorf("it names %d files", len(names))
	}
	for _, m := range names {
		if strings.Contains(m[1], "NAME") {
			continue
		}
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("ARCHITECTURE.md names %s: %v", m[1], err)
		}
	}
	for p, most := range map[string]int{"ARCHITECTURE.md": 1500, "README.md": 2000} {
		if n := len(strings.Fields(string(read(t, p)))); n > most {
			t.Errorf("%s has %d words, and should have at most %d", p, n, most)
		}
	}
}
