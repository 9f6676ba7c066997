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

// child is a writer process, from its parent's view.
type child struct {
	*ledger
	shared *os.File
	cmd    *exec.Cmd
	path   string
	says   bytes.Buffer
	ended  chan struct{} // closed after the end, with err set
	err    error
}

// patience is the maximum time for the begin or the end of a child.
const patience = 30 * time.Second

// startWriter starts a writer, and returns when it records. It stores the times of one step
// in every. args are further flags.
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

// kill kills it, and returns when it is gone.
func (c *child) kill() {
	_ = c.cmd.Process.Signal(syscall.SIGKILL) // it may have ended, which wait reports
	<-c.ended
}

// finish stops it, and waits for its end.
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

// last returns the end of its output: of a crash the begin, which has the reason.
func (c *child) last() string {
	s := strings.TrimSpace(c.says.String())
	return s[:min(len(s), 500)]
}

// close releases the memory shared with it.
func (c *child) close() {
	c.ledger.unmap()
	c.shared.Close()
}
