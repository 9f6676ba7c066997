package outside

import (
	"crypto/rand"
	"fmt"
	"os"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/tracefile"
)

// writer writes a trace that has only blocks. Its clock is the system's monotonic one.
type writer struct {
	file *os.File
	to   *tracefile.Writer
}

// newWriter creates the file path, which must not exist, and writes the trace's header.
func newWriter(path string, pid int, now int64) (*writer, error) {
	f, err := newfile.Create(path)
	if err != nil {
		return nil, fmt.Errorf("creating the trace: %w", err)
	}
	h := format.Header{
		PageSize: uint32(os.Getpagesize()), PID: uint32(pid), Clock: format.ClockMonotonic, Path: format.PathPure, Backing: format.BackingDisk,
		StartTicks: now, StartMono: now, StartWall: time.Now().UnixNano(), TickRate: 1e9,
	}
	_, _ = rand.Read(h.ID[:]) // it never fails
	w := &writer{f, tracefile.New(f, h)}
	w.to.Begin()
	w.block(format.BlockCalib, format.AppendCalib(nil, &format.Calib{Ticks: now, Mono: now, Wall: h.StartWall}), now)
	return w, w.failed()
}

// block appends a block; now is 0 if it has no time.
func (w *writer) block(t format.BlockType, payload []byte, now int64) {
	w.to.Since = max(w.to.Since, now)
	w.to.Block(t, payload)
}

// failed returns the error that prevents the trace from being written, if any.
func (w *writer) failed() error {
	if w.to.Err != nil {
		return fmt.Errorf("writing the trace: %w", w.to.Err)
	}
	return nil
}

// close ends the trace; now is when the program ended.
func (w *writer) close(now int64) error {
	w.to.Close(max(w.to.Since, now), nil)
	err := w.failed()
	if e := w.file.Close(); err == nil && e != nil {
		err = fmt.Errorf("closing the trace: %w", e)
	}
	return err
}
