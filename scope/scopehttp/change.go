package scopehttp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// maxFiles is the maximum number of existing files that clients have requested.
const maxFiles = 16

func (h *handler) start(_ *http.Request, f fields) (string, error) {
	dir, err := h.dir(f["path"])
	if err != nil {
		return "", err
	}
	opts := []scope.Option{scope.WithFilter(f["filter"])}
	if f["limit"] == "" && f["ring"] == "" {
		opts = append(opts, scope.WithLimit(min(scope.DefaultLimit, h.max)))
	}
	for name, option := range map[string]func(int64) scope.Option{"limit": scope.WithLimit, "ring": scope.WithRing} {
		if f[name] == "" {
			continue
		}
		n, err := bytesOf(f[name])
		switch {
		case err != nil:
			return "", refuse(http.StatusBadRequest, "the field %s: %w", name, err)
		case n > h.max:
			return "", refuse(http.StatusForbidden, "the field %s: %d bytes are more than the %d that the program allows", name, n, h.max)
		}
		opts = append(opts, option(n))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.room(); err != nil {
		return "", err
	}
	// The slash makes Start create the directory if it does not exist.
	if err := scope.Start(dir+string(filepath.Separator), opts...); err != nil {
		return "", err
	}
	path := scope.Path()
	h.wrote = append(h.wrote, path)
	return "recording to " + path, nil
}

// dir returns the directory named by a client if the program allows it, or the
// first allowed one if asked is empty.
func (h *handler) dir(asked string) (string, error) {
	if asked == "" {
		return h.dirs[0], nil
	}
	if d := filepath.Clean(asked); slices.Contains(h.dirs, d) {
		return d, nil
	}
	return "", refuse(http.StatusForbidden, "recordings can't be started into %q from here; the program allows %q, and others with scopehttp.WithDir", asked, h.dirs)
}

func (h *handler) stop(*http.Request, fields) (string, error) {
	if err := scope.Stop(); err != nil {
		return "", err
	}
	return "stopped; the trace is " + scope.Path(), nil
}

func (h *handler) filter(_ *http.Request, f fields) (string, error) {
	expr, ok := f["expr"]
	if !ok {
		return "", refuse(http.StatusBadRequest, "the field expr is missing; empty, it records everything")
	}
	switch err := scope.SetFilter(expr); {
	case errors.Is(err, scope.ErrStopped):
		return "", err
	case err != nil:
		return "", refuse(http.StatusBadRequest, "%w", err)
	}
	said := "the filter is now " + expr
	if expr == "" {
		said = "everything is recorded from now on"
	}
	if scope.Stats().Off {
		said = "the filter is set, and the recording is switched off"
	}
	return said, nil
}

// snapshot writes a snapshot beside the trace.
func (h *handler) snapshot(*http.Request, fields) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.room(); err != nil {
		return "", err
	}
	path := snapshotName(scope.Path())
	if err := scope.Snapshot(path); err != nil {
		return "", err
	}
	h.wrote = append(h.wrote, path)
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return path, nil
}

// snapshotName returns a new file name beside the trace.
func snapshotName(trace string) string {
	return fmt.Sprintf("%s-snapshot-%s-%04x.scope", strings.TrimSuffix(trace, ".scope"), time.Now().UTC().Format("20060102T150405Z"), rand.Uint32()>>16)
}

// room refuses another file if there are maxFiles. h.mu is held.
func (h *handler) room() error {
	h.wrote = slices.DeleteFunc(h.wrote, func(path string) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, os.ErrNotExist)
	})
	if len(h.wrote) >= maxFiles {
		return refuse(http.StatusInsufficientStorage, "%d traces that were started here still exist, the first of them %s; remove some", len(h.wrote), h.wrote[0])
	}
	return nil
}
