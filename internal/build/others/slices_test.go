package others

import (
	"io"
	"os/exec"
	"sync"

	"github.com/scopeview/scopeview/internal/runs"
)

// once runs a program that ends by itself, with this input and output.
func once(c *checkout, env []string, in io.Reader, out io.Writer, program string, args ...string) runs.Took {
	c.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = c.dir, env, in, out
	run := runs.Once
	if c.machine != nil {
		run = c.sliced
	}
	took, err := run(cmd)
	if err != nil {
		c.t.Fatalf("%q: %v", cmd.Args, err)
	}
	return took
}

// atOnce runs functions concurrently, whose programs share the machine by slices.
func (c *checkout) atOnce(f ...func()) {
	c.t.Helper()
	c.machine = make(chan struct{}, 1)
	c.machine <- struct{}{}
	var all sync.WaitGroup
	for _, f := range f {
		all.Go(f)
	}
	all.Wait()
	c.machine = nil
	if c.t.Failed() {
		c.t.FailNow() // only this goroutine can end the test
	}
}
