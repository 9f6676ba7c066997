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
	// downloadsAtOnce bounds how many snapshots there are at a time.
	downloadsAtOnce = 2
	piece           = 1 << 20
	// hidden begins the name of the directory that a snapshot is made in.
	hidden = ".scopeview-download-"
	// making is how long that may take, on a disk that is slow or throttled.
	making = 5 * time.Minute
)

// download sends the recording until now, or the last one.
func (h *handler) download(w http.ResponseWriter, r *http.Request) error {
	select {
	case h.downloads <- struct{}{}:
		defer func() { <-h.downloads }()
	default:
		w.Header().Set("Retry-After", "10")
		return refuse(http.StatusServiceUnavailable, "%d others are downloading just now; try again in a while", downloadsAtOnce)
	}
	// The server's WriteTimeout, if it has one, is for the whole of an answer,
	// which this one may well need longer for. Where there are no deadlines, as in
	// a test's recorder, nobody stalls either.
	deadline := http.NewResponseController(w)
	_ = deadline.SetWriteDeadline(time.Now().Add(making))
	// Without a WriteTimeout nobody sets one for the connection's next answer.
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
	// In pieces, so that who stops reading does not keep the file for ever. If it
	// fails, the server notices that bytes are missing and closes the connection.
	for left := t.size; left > 0 && err == nil; {
		_ = deadline.SetWriteDeadline(time.Now().Add(h.patience))
		var n int64
		n, err = io.CopyN(w, t.file, min(left, piece))
		left -= n
	}
	return nil
}

// sent is a trace that does not change any more.
type sent struct {
	file *os.File
	size int64
	name string
	made string // the directory that it was made in; "": the program's own
}

func (t *sent) close() {
	t.file.Close()
	if t.made != "" {
		_ = os.RemoveAll(t.made) // where an open file could not be removed
	}
}

// whole opens a snapshot of the recording that runs, or the last one's trace.
func whole() (*sent, error) {
	s := scope.Stats()
	if s.Running {
		t, err := snapshotOf(s.Path, scope.Snapshot)
		if !errors.Is(err, scope.ErrStopped) {
			return t, err
		}
	}
	if s.Path == "" {
		return nil, refuse(http.StatusNotFound, "nothing was recorded yet; POST to start begins to")
	}
	return last(s.Path)
}

// snapshotOf lets create make a snapshot of the trace at path, beside it: where
// there is room if anywhere.
func snapshotOf(path string, create func(path string) error) (*sent, error) {
	t := &sent{name: filepath.Base(snapshotName(path))}
	var err error
	if t.made, err = os.MkdirTemp(filepath.Dir(path), hidden); err != nil {
		return nil, fmt.Errorf("making a snapshot to send: %w", err)
	}
	// At once, so that a program that is killed while it sends leaves nothing.
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
	case !state.Closed, state.Files > 0: // it is being stopped just now, or that failed; or it is several files
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
	// What is behind its end is being cut off, or was.
	return &sent{file: f, size: min(state.End, opened.Size()), name: filepath.Base(path)}, nil
}

// openTrace opens the trace of a recording of this process, if it is still what
// its name says: whoever else may write the directory could have put a link
// there, to what only we may read or write.
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
