package scopehttp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/snapshot"
	"github.com/scopeview/scopeview/scope"
)

const (
	// downloadsAtOnce limits the number of concurrent downloads.
	downloadsAtOnce = 2
	piece           = 1 << 20
	// hidden is the prefix of the directory in which a snapshot is made.
	hidden = ".scopeview-download-"
	// making limits the time for a snapshot, for disks that are slow or throttled.
	making = 5 * time.Minute
)

// download sends a snapshot of the recording, or the last trace.
func (h *handler) download(w http.ResponseWriter, r *http.Request) error {
	select {
	case h.downloads <- struct{}{}:
		defer func() { <-h.downloads }()
	default:
		w.Header().Set("Retry-After", "10")
		return refuse(http.StatusServiceUnavailable, "%d others are downloading just now; try again in a while", downloadsAtOnce)
	}
	// The server's WriteTimeout, if any, covers the whole response, and this one
	// may need longer. Writers without deadlines, such as a test's recorder, do
	// not stall.
	deadline := http.NewResponseController(w)
	_ = deadline.SetWriteDeadline(time.Now().Add(making))
	// Without a WriteTimeout the server does not reset the deadline for the
	// connection's next response.
	defer deadline.SetWriteDeadline(time.Time{})

	t, err := whole()
	if err != nil {
		return err
	}
	defer t.close()
	head := w.Header()
	head.Set("Content-Type", "application/octet-stream")
	head.Set("Content-Length", strconv.FormatInt(t.size, 10))
	head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": t.name}))
	// In pieces, so that a client that stops reading does not hold the file
	// forever. On an error the server notices the missing bytes and closes the
	// connection.
	for left := t.size; left > 0 && err == nil; {
		_ = deadline.SetWriteDeadline(time.Now().Add(h.patience))
		var n int64
		n, err = io.CopyN(w, t.file, min(left, piece))
		left -= n
	}
	return nil
}

// sent is a trace that no longer changes.
type sent struct {
	file *os.File
	size int64
	name string
	made string // the directory made for it; "": the program's own
}

func (t *sent) close() {
	t.file.Close()
	if t.made != "" {
		_ = os.RemoveAll(t.made) // on systems where an open file can't be removed
	}
}

// whole opens a snapshot of the running recording, or the last one's trace.
func whole() (*sent, error) {
	s := scope.Stats()
	if s.Running {
		t, err := snapshotOf(s.Path, scope.Snapshot)
		if !errors.Is(err, scope.ErrStopped) {
			return t, err
		}
	}
	if s.Path == "" {
		return nil, refuse(http.StatusNotFound, "nothing was recorded yet; POST to start begins a recording")
	}
	return last(s.Path)
}

// snapshotOf calls create to make a snapshot of the trace at path, in a directory
// beside it, which is the place most likely to have room.
func snapshotOf(path string, create func(path string) error) (*sent, error) {
	t := &sent{name: filepath.Base(snapshotName(path))}
	var err error
	if t.made, err = os.MkdirTemp(filepath.Dir(path), hidden); err != nil {
		return nil, fmt.Errorf("making a snapshot to send: %w", err)
	}
	// At once, so that a program killed while sending leaves nothing behind.
	defer os.RemoveAll(t.made)
	own := filepath.Join(t.made, "snapshot.scope")
	if err := create(own); err != nil {
		return nil, err
	}
	if t.file, err = os.Open(own); err != nil {
		return nil, fmt.Errorf("sending the snapshot: %w", err)
	}
	st, err := t.file.Stat()
	if err != nil {
		t.file.Close()
		return nil, fmt.Errorf("sending the snapshot: %w", err)
	}
	t.size = st.Size()
	return t, nil
}

// last opens the last recording's trace.
func last(path string) (*sent, error) {
	f, state, err := openTrace(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("looking at the last recording's trace: %w", err)
	case !state.Closed, state.Files > 0: // it is being stopped, or stopping failed, or the trace is several files
		whole, err := hot.Join(f)
		if err != nil {
			return nil, fmt.Errorf("opening the last recording's trace: %w", err)
		}
		defer whole.Close()
		return snapshotOf(path, func(own string) error {
			_, err := snapshot.Create(own, whole, snapshot.Options{})
			return err
		})
	}
	// The file may have been, or may now be, cut off at its end.
	return &sent{file: f, size: min(state.End, opened.Size()), name: filepath.Base(path)}, nil
}

// openTrace opens the trace of a recording of this process, if path still names
// it: whoever else may write to the directory could have replaced it by a link to
// a file that only we may read or write.
func openTrace(path string, flag int) (f *os.File, state format.State, err error) {
	gone := refuse(http.StatusNotFound, "%s is not the recording's trace any more", path)
	named, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, state, refuse(http.StatusNotFound, "the recording's trace, %s, is not there any more", path)
	case err != nil:
		return nil, state, fmt.Errorf("looking for the recording's trace: %w", err)
	case !named.Mode().IsRegular():
		return nil, state, gone
	}
	if f, err = newfile.Existing(path, flag); err != nil {
		return nil, state, fmt.Errorf("opening the recording's trace: %w", err)
	}
	b := make([]byte, format.StateOffset+format.StateSize)
	n, _ := f.ReadAt(b, 0)
	h, state, bad := format.DecodeHeader(b[:n])
	opened, err := f.Stat()
	if err != nil || bad != nil || !os.SameFile(named, opened) || h.PID != uint32(os.Getpid()) {
		f.Close()
		return nil, state, gone
	}
	return f, state, nil
}
