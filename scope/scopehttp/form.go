package scopehttp

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxBody is far more than a form needs.
const maxBody = 64 << 10

// fields is a posted form.
type fields map[string]string

// change returns a route's handler that parses a form with these fields, calls
// do, and responds with do's sentence.
func change(do func(*handler, *http.Request, fields) (string, error), names ...string) func(*handler, http.ResponseWriter, *http.Request) error {
	return func(h *handler, w http.ResponseWriter, r *http.Request) error {
		f, err := readForm(w, r, names)
		if err != nil {
			return err
		}
		said, err := do(h, r, f)
		if err != nil {
			return err
		}
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			return h.page(w, said)
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintln(w, said) // the client may have gone
		return nil
	}
}

// readForm parses the posted form. It refuses unknown fields: a misspelt limit
// would mean no limit.
func readForm(w http.ResponseWriter, r *http.Request, names []string) (fields, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if t := r.Header.Get("Content-Type"); t != "" {
		if t, _, err := mime.ParseMediaType(t); err != nil || t != "application/x-www-form-urlencoded" {
			return nil, refuse(http.StatusUnsupportedMediaType, "a form is posted as application/x-www-form-urlencoded (curl -d), not as %q", t)
		}
	}
	if err := r.ParseForm(); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, refuse(http.StatusRequestEntityTooLarge, "the form has more than %d bytes", large.Limit)
		}
		return nil, refuse(http.StatusBadRequest, "reading the form: %w", err)
	}
	if r.URL.RawQuery != "" {
		return nil, refuse(http.StatusBadRequest, "fields go into the body (curl -d), not into the address")
	}
	f := make(fields)
	for name, values := range r.PostForm {
		switch {
		case !slices.Contains(names, name):
			return nil, refuse(http.StatusBadRequest, "there is no field %q here; there is %q", name, names)
		case len(values) > 1:
			return nil, refuse(http.StatusBadRequest, "the field %q is given %d times", name, len(values))
		}
		f[name] = values[0]
	}
	return f, nil
}

// bytesOf parses a number of bytes with the suffix K, M, G or none, in powers
// of 1024.
func bytesOf(s string) (int64, error) {
	digits := strings.TrimRight(s, "kKmMgG")
	shift := 0
	if unit := s[len(digits):]; len(unit) == 1 {
		shift = 10 * (1 + strings.Index("KMG", strings.ToUpper(unit)))
	} else if unit != "" {
		digits = ""
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > (1<<62)>>shift {
		return 0, fmt.Errorf("%q is not a number of bytes; write 1048576, 256M or 1G", s)
	}
	return n << shift, nil
}
