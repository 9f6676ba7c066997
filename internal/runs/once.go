package runs

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

// Took has the times of a run, in ns.
type Took struct{ Wall, User, System int64 }

// Once runs a command. The error of a failed one includes the end of its standard error.
func Once(c *exec.Cmd) (Took, error) {
	said := &tail{}
	c.Stderr = said
	c.WaitDelay = time.Second // its children may keep its standard error open
	begin := time.Now()
	err := c.Run()
	t := Took{Wall: int64(time.Since(begin))}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return t, fmt.Errorf("%w%s", err, said)
	}
	t.User, t.System = int64(c.ProcessState.UserTime()), int64(c.ProcessState.SystemTime())
	return t, nil
}

// Median returns the median of values, which must not be empty.
func Median(v []int64) int64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// tail keeps the end of a command's output, for its error.
type tail struct{ b []byte }

const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*tailSize {
		t.b = append(t.b[:0], t.b[len(t.b)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	b := bytes.TrimSpace(t.b)
	if len(b) == 0 {
		return ""
	}
	return "; it said:\n" + string(b[max(0, len(b)-tailSize):])
}
