package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/trace"
)

// controlWords are the control words of a trace that is being written; see docs/format.md §2.
type controlWords struct {
	path string
	f    *os.File
}

// askEvery is the interval of polling for the answer.
const askEvery = 20 * time.Millisecond

// openControl opens a trace whose writer may answer requests.
func openControl(path string) (*controlWords, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	real, err := filepath.EvalSymlinks(path)
	var f *os.File
	if err == nil {
		f, err = newfile.Existing(real, os.O_RDWR)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("sending the request: %w; it requires write access to the trace: run scopeview as the program's user or root", err)
	case err != nil:
		return nil, fmt.Errorf("asking the program: %w", err)
	}
	c := &controlWords{path, f}
	if err := c.written(); err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

func (c *controlWords) close() { c.f.Close() }

// written returns nil if the trace appears to have a live writer that may answer.
func (c *controlWords) written() error {
	var b [format.StateOffset + format.StateSize]byte
	n, err := c.f.ReadAt(b[:], 0)
	if err != nil && n == 0 {
		return fmt.Errorf("%s: reading the header: %w", c.path, err)
	}
	h, s, err := format.DecodeHeader(b[:n])
	alive, known := trace.WriterAlive(c.f)
	switch {
	case err != nil:
		return fmt.Errorf("%s: no program answers requests for this trace: %w", c.path, err)
	case s.Closed:
		return fmt.Errorf("%s: this recording has ended; name a running one, such as by its process number", c.path)
	case known && !alive:
		return fmt.Errorf("%s: process %d, which wrote it, has ended; the trace can still be read, or copied by scopeview snapshot", c.path, h.PID)
	case h.Minor < 1:
		return fmt.Errorf("%s: the program's scopeview is too old for requests (format %d.%d); build it with a newer one", c.path, h.Major, h.Minor)
	}
	return nil
}

// read reads the words. While another process stores them they may be inconsistent.
func (c *controlWords) read() (r format.Request, a format.Answer, err error) {
	if r, a, err = format.ReadControl(c.f); err != nil && !errors.Is(err, format.ErrRequest) {
		err = fmt.Errorf("%s: reading the answer: %w", c.path, err)
	}
	return r, a, err
}

// wait polls until is returns true for the words. late returns the error after the limit; it gets
// the last request.
func (c *controlWords) wait(ctx context.Context, limit time.Duration, is func(format.Request, format.Answer) bool, late func(format.Request) error) (r format.Request, a format.Answer, err error) {
	deadline := time.Now().Add(limit)
	poll := time.NewTicker(askEvery)
	defer poll.Stop()
	for {
		r, a, err = c.read()
		switch {
		case err == nil && is(r, a):
			return r, a, nil
		case err != nil && !errors.Is(err, format.ErrRequest):
			return r, a, err
		}
		if gone := c.written(); gone != nil {
			return r, a, fmt.Errorf("the program ended before it answered: %w", gone)
		}
		if time.Now().After(deadline) {
			return r, a, late(r)
		}
		select {
		case <-ctx.Done():
			return r, a, ctx.Err()
		case <-poll.C:
		}
	}
}

// ask stores a request and returns the answer.
func (c *controlWords) ask(ctx context.Context, r *format.Request, limit time.Duration) (string, error) {
	if err := c.lock(ctx, time.Now().Add(limit)); err != nil {
		return "", err
	}
	defer c.unlock()
	// An earlier requester may have given up while the program still processes its request.
	last, answer, err := c.wait(ctx, limit, func(r format.Request, a format.Answer) bool { return r.Number == a.Number || r.Number == 0 },
		func(r format.Request) error {
			return fmt.Errorf("%s: an earlier request (%s) was not answered within %v; try again later, or wait longer with --timeout", c.path, requestName(r.Command), limit)
		})
	if err != nil {
		return "", err
	}
	r.Number = max(last.Number, answer.Number) + 1
	if err := r.Store(c.f); err != nil {
		return "", fmt.Errorf("asking for %s: %w", requestName(r.Command), err)
	}
	_, a, err := c.wait(ctx, limit, func(_ format.Request, a format.Answer) bool { return a.Number == r.Number },
		func(format.Request) error {
			return fmt.Errorf("%s: no answer within %v; the program may be stopped (by a debugger or SIGSTOP), starved of CPU, or waiting for its disk. It executes the request once it continues; wait longer with --timeout", c.path, limit)
		})
	switch {
	case err != nil:
		return "", err
	case a.Failed:
		return "", fmt.Errorf("the program refused or failed: %s", a.Text)
	}
	return a.Text, nil
}

// requestName returns the name of a request.
func requestName(c format.Command) string {
	for _, k := range ctlCommands {
		if k.command == c {
			return k.name
		}
	}
	return fmt.Sprintf("request of kind %d", c)
}

// lock excludes other ctl processes from the control words until unlock, because their texts must
// not mix. On systems without such locks it does nothing.
func (c *controlWords) lock(ctx context.Context, deadline time.Time) error {
	poll := time.NewTicker(askEvery)
	defer poll.Stop()
	for {
		held, err := tryLockRange(c.f, format.ControlOffset, format.ControlSize)
		if err != nil || !held {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: another scopeview ctl has not finished in time; try again", c.path)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
}

func (c *controlWords) unlock() { unlockRange(c.f, format.ControlOffset, format.ControlSize) }
