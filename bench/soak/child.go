//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// child is a writer, as its parent sees it.
type child struct {
	*ledger
	shared *os.File
	cmd    *exec.Cmd
	path   string
	says   bytes.Buffer
	ended  chan struct{} // closed when it has, with err set
	err    error
}

// patience is how long a child may take to begin, or to end.
const patience = 30 * time.Second

// startWriter starts one, and returns when it records. Of so many steps each the
// times of one are told. args are more of its flags.
func startWriter(path string, ring int64, rate int, every uint64, args ...string) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{path: path, ended: make(chan struct{})}
	if c.ledger, c.shared, err = newLedger(); err != nil {
		return nil, err
	}
	for i := range c.workers {
		c.workers[i].every = every
	}
	args = append([]string{"-write", path, "-ring", strconv.FormatInt(ring, 10), "-rate", strconv.Itoa(rate)}, args...)
	c.cmd = exec.Command(exe, args...)
	c.cmd.ExtraFiles = []*os.File{c.shared}
	c.cmd.Stdout, c.cmd.Stderr = &c.says, &c.says
	if err := c.cmd.Start(); err != nil {
		c.close()
		return nil, err
	}
	go func() {
		defer close(c.ended)
		c.err = c.cmd.Wait()
	}()
	for deadline := time.Now().Add(patience); !c.recording.Load(); time.Sleep(time.Millisecond) {
		select {
		case <-c.ended:
			defer c.close()
			return nil, fmt.Errorf("the writer did not begin: %w: %s", c.err, c.last())
		default:
		}
		if time.Now().After(deadline) {
			c.kill()
			defer c.close()
			return nil, errors.New("the writer did not begin to record")
		}
	}
	return c, nil
}

// kill kills it at once, and returns when it is gone.
func (c *child) kill() {
	_ = c.cmd.Process.Signal(syscall.SIGKILL) // it may have ended, which wait tells
	<-c.ended
}

// finish tells it to end, and returns when it has.
func (c *child) finish() error {
	c.stop.Store(true)
	select {
	case <-c.ended:
	case <-time.After(patience):
		c.kill()
		return errors.New("the writer did not end")
	}
	if c.err != nil {
		return fmt.Errorf("the writer failed: %w: %s", c.err, c.last())
	}
	return nil
}

// died reports whether it ended by itself.
func (c *child) died() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// last is what it said last: of a crash the beginning, which says why.
func (c *child) last() string {
	s := strings.TrimSpace(c.says.String())
	return s[:min(len(s), 500)]
}

// close lets go of what is shared with it.
func (c *child) close() {
	c.ledger.unmap()
	c.shared.Close()
}
