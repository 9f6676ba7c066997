package scopeview_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// mostKept is how large a file under version control may be: what is larger is a binary, a trace
// or something generated, which every clone would have for ever.
const mostKept = 200_000

// TestNothingLargeIsKept: a file that somebody left behind does not get in by the way.
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
