package main

import (
	"strings"
	"testing"
)

// execProgram replaces itself by a shell, which uses so much CPU time that a remaining timer would
// kill it.
const execProgram = `-- go.mod --
module example.com/replaced

go 1.23
-- main.go --
package main

import (
	"fmt"
	"os"
	"syscall"
)

func main() {
	script := "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo lived; exit 7"
	fmt.Println(syscall.Exec("/bin/sh", []string{"sh", "-c", script}, os.Environ()))
}
`

// TestRunExec: a recorded program can replace itself, and the new program lives.
func TestRunExec(t *testing.T) {
	l := launching(t, execProgram)
	for _, args := range [][]string{{"run", "."}, {"run", "--no-states", "."}} {
		if r := l.with([]string{"CGO_ENABLED=0"}, "", args...); r.code != 7 || strings.TrimSpace(r.out) != "lived" {
			t.Errorf("%v: exit code %d, it printed %q\n%s", args, r.code, r.out, r.err)
		}
	}
}
