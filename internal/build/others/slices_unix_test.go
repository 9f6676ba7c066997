//go:build unix

package others

import (
	"os/exec"
	"syscall"
	"time"

	"github.com/scopeview/scopeview/internal/runs"
)

// slice is how long a program has the machine before the next one has it.
const slice = 100 * time.Millisecond

// sliced runs a command in slices: who holds the token runs, and the others are stopped meanwhile. The machine's
// speed changes from second to second, so programs that run behind one another differ by a fifth where
// there is no difference; those that change places ten times a second differ by a hundredth.
func (c *checkout) sliced(cmd *exec.Cmd) (runs.Took, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it starts stops with it
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
