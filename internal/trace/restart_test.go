package trace_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// TestRestart reads traces of this machine's boot, and of another.
func TestRestart(t *testing.T) {
	now := trace.Booted()
	if now == "" {
		t.Skip("what this system calls its boot is not known")
	}
	for _, tc := range []struct {
		name, backing, closed, boot string
		told                        bool
	}{
		{"killed", "disk", "0", now, false},
		{"another boot", "disk", "0", "another", true},
		{"closed", "disk", "1", "another", false},
		{"in memory", "shm", "0", "another", false}, // that the hot part is missing is told
		{"not known", "disk", "0", "", false},
	} {
		b, err := text.Assemble(strings.NewReader("header chunk=65536 backing=" + tc.backing + "\nstate closed=" + tc.closed + "\nchunk blocks\ninfo \"boot\" \"" + tc.boot + "\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "a.scope")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		tr, err := trace.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		problems := tr.Problems()
		if told := slices.ContainsFunc(problems, func(p trace.Problem) bool { return strings.Contains(p.Text, "was started since") }); told != tc.told {
			t.Errorf("%s: told %t: %v", tc.name, told, problems)
		}
		for _, p := range problems {
			if tc.told && p.Damage() {
				t.Errorf("%s: %q counts as damage", tc.name, p.Text)
			}
		}
	}
}
