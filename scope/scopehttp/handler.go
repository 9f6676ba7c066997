package scopehttp

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// Option configures Handler.
type Option func(*handler)

// WithDir allows recordings in these directories, in addition to those of other
// WithDirs; the first is the default if the client names none. A directory that does not
// exist is created. Without WithDir only the system's directory for temporary files is
// allowed.
func WithDir(dirs ...string) Option {
	return func(h *handler) {
		for _, d := range dirs {
			if full, err := filepath.Abs(d); err == nil {
				d = full
			}
			h.dirs = append(h.dirs, d)
		}
	}
}

// WithHosts also allows requests for these host names, written without a port:
// debug.example.com. "*" allows every name; then other sites' pages are kept out only by
// whatever else keeps them from reaching this server.
func WithHosts(names ...string) Option {
	return func(h *handler) {
		for _, n := range names {
			h.hosts[strings.ToLower(strings.Trim(n, "[]"))] = true
		}
	}
}

// WithMaxBytes limits the limit and the ring that a client may ask for; the default is
// scope.DefaultLimit.
func WithMaxBytes(n int64) Option { return func(h *handler) { h.max = n } }

// handler implements http.Handler.
type handler struct {
	dirs  []string
	hosts map[string]bool
	max   int64
	cross *http.CrossOriginProtection

	downloads chan struct{} // a semaphore
	patience  time.Duration // how long a client may take for a piece

	asking sync.Mutex // held during a request to the recorder

	mu    sync.Mutex // held while a file is created
	wrote []string   // files that clients requested; some may be gone
}

// Handler returns a handler that shows, starts and stops the program's recording; see
// the package's documentation.
func Handler(opts ...Option) http.Handler {
	h := &handler{
		hosts:     make(map[string]bool),
		max:       scope.DefaultLimit,
		cross:     http.NewCrossOriginProtection(),
		downloads: make(chan struct{}, downloadsAtOnce),
		patience:  30 * time.Second,
	}
	for _, o := range opts {
		if o != nil {
			o(h)
		}
	}
	if len(h.dirs) == 0 {
		h.dirs = []string{os.TempDir()}
	}
	return h
}

// route is a route of the handler.
type route struct {
	methods string // as in the header Allow
	serve   func(*handler, http.ResponseWriter, *http.Request) error
}

const (
	reads   = "GET, HEAD"
	changes = "POST"
)

// routes is a function so that programs that do not use the handler do not contain its
// code.
func routes() map[string]route {
	return map[string]route{
		"":         {reads, (*handler).index},
		"status":   {reads, (*handler).status},
		"download": {"GET", (*handler).download}, // a HEAD would create the snapshot too
		"start":    {changes, change((*handler).start, "path", "ring", "limit", "filter")},
		"stop":     {changes, change((*handler).stop)},
		"on":       {changes, change((*handler).on)},
		"off":      {changes, change((*handler).off)},
		"filter":   {changes, change((*handler).filter, "expr")},
		"snapshot": {changes, change((*handler).snapshot)},
	}
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if err := h.serve(w, r); err != nil {
		http.Error(w, err.Error(), statusOf(err))
	}
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request) error {
	if err := h.admit(r); err != nil {
		return err
	}
	// Use the last element, so that the handler need not know where it is mounted, nor
	// whether a prefix was stripped.
	name := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
	to, ok := routes()[name]
	if !ok {
		return refuse(http.StatusNotFound, "there is no %q here; there is status, download, start, stop, on, off, filter, snapshot, and a page if the address ends in a slash", name)
	}
	for m := range strings.SplitSeq(to.methods, ", ") {
		switch {
		case r.Method != m:
		case without && name != "" && name != "status":
			return refuse(http.StatusNotImplemented, "this program was built with -tags scope_off: it can't record")
		default:
			return to.serve(h, w, r)
		}
	}
	w.Header().Set("Allow", to.methods)
	return refuse(http.StatusMethodNotAllowed, "the method must be %s, not %s", strings.ReplaceAll(to.methods, ", ", " or "), r.Method)
}

// refusal is an error with a status of its own.
type refusal struct {
	status int
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Errorf(format, args...)}
}

// statusOf returns the response's status for err.
func statusOf(err error) int {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r.status
	case errors.Is(err, scope.ErrRunning):
		return http.StatusConflict
	case errors.Is(err, scope.ErrStopped):
		return http.StatusNotFound
	case errors.Is(err, scope.ErrOption):
		return http.StatusBadRequest
	case errors.Is(err, scope.ErrNoSpace):
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError
}
