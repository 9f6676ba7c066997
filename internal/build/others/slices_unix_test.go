//go:build unix

package others

import (
	"os/exec"
	"syscall"
	"time"

	"github.com/scopeview/scopeview/internal/runs"
)

// slice is the time for which one program has the machine.
const slice = 100 * time.Millisecond

// sliced runs a command in slices: the holder of the token runs, and the others are stopped
// meanwhile. The machine's speed changes from second to second, so consecutive runs differ
// by a fifth without a cause; runs that alternate ten times a second differ by a hundredth.
func (c *checkout) sliced(cmd *exec.Cmd) (runs.Took, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its children stop with it
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return runs.Took{}, err
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		token := <-c.machine
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
		select {
		case err := <-ended:
			c.machine <- token
			s := cmd.ProcessState
			return runs.Took{Wall: int64(time.Since(begin)), User: int64(s.UserTime()), System: int64(s.SystemTime())}, err
		case <-time.After(slice):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGSTOP)
			c.machine <- token
		}
	}
}
