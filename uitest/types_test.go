package uitest

import (
	"os"
	"os/exec"
	"testing"
)

const tsc = "node_modules/typescript/bin/tsc"

// TestTypes checks the page's types: its modules say them in comments, and only
// commands.js may assign the app's state.
func TestTypes(t *testing.T) {
	if _, err := os.Stat(tsc); err != nil {
		t.Skip("no typescript from npm; make deps installs it")
	}
	if out, err := exec.Command("node", tsc, "-p", "../export/html/assets").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
