package scopeview_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// mostKept is the maximum size of a file under version control: a larger one is a binary, a
// trace or generated, and would remain in every clone.
const mostKept = 200_000

// TestNothingLargeIsKept: no large file was added by accident.
func TestNothingLargeIsKept(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("this is no checkout: ", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		if st, err := os.Lstat(name); err == nil && st.Size() > mostKept {
			t.Errorf("%s has %d bytes; binaries, traces and generated output stay out of git (.gitignore)", name, st.Size())
		}
	}
}
