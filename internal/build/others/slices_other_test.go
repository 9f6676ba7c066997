//go:build !unix

package others

import (
	"os/exec"

	"github.com/scopeview/scopeview/internal/runs"
)

// sliced runs a command without slices, on systems where processes can't be stopped.
func (c *checkout) sliced(cmd *exec.Cmd) (runs.Took, error) {
	token := <-c.machine
	defer func() { c.machine <- token }()
	return runs.Once(cmd)
}
