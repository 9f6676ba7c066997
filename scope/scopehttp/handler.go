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

// Option changes what Handler allows.
type Option func(*handler)

// WithDir allows recordings to be started into these directories, beside those
// of other WithDirs; the first is where they go if the client names none. One
// that does not exist is made. Without WithDir it is the system's directory for
// temporary files, and only that.
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

// WithHosts allows to be asked under these names too, written without a port:
// debug.example.com. "*" allows every name; then pages of other sites are kept
// out only by whatever else keeps them from reaching this server.
func WithHosts(names ...string) Option {
	return func(h *handler) {
		for _, n := range names {
			h.hosts[strings.ToLower(strings.Trim(n, "[]"))] = true
		}
	}
}

// WithMaxBytes bounds the limit and the ring that a client may ask for; the
// default is scope.DefaultLimit.
func WithMaxBytes(n int64) Option { return func(h *handler) { h.max = n } }

// handler is what Handler returns.
type handler struct {
	dirs  []string
	hosts map[string]bool
	max   int64
	cross *http.CrossOriginProtection

	downloads chan struct{} // a place for each that is under way
	patience  time.Duration // how long a client may take for the next piece

	asking sync.Mutex // held while the recorder is asked for something

	mu    sync.Mutex // held while a file is made
	wrote []string   // those that clients asked for; some may be gone
}

// Handler answers requests about the program's recording, and starts and stops
// it; see the package's documentation.
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

// route is what can be asked for.
type route struct {
	methods string // as in the header Allow
	serve   func(*handler, http.ResponseWriter, *http.Request) error
}

const (
	reads   = "GET, HEAD"
	changes = "POST"
)

// routes is a function so that programs without the handler do not contain what it does.
func routes() map[string]route {
	return map[string]route{
		"":         {reads, (*handler).index},
		"status":   {reads, (*handler).status},
		"download": {"GET", (*handler).download}, // a HEAD would make the snapshot too
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
	// The last element, so that the handler needs not know where it is mounted,
	// nor whether a prefix was stripped.
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
	return refuse(http.StatusMethodNotAllowed, "this is asked for by %s, not by %s", strings.ReplaceAll(to.methods, ", ", " or "), r.Method)
}

// refusal is an error that has a status of its own.
type refusal struct {
	status int
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Errorf(format, args...)}
}

// statusOf is what the answer's status says of err.
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
