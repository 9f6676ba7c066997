package advice

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
)

// besideMost is the size of the largest raw file that is read unless the user names it.
const besideMost = 64 << 20

// Beside returns the name of the raw file that belongs to a trace: x.raw for x.scope, in the
// same directory.
func Beside(trace string) string { return strings.TrimSuffix(trace, ".scope") + ".raw" }

// OfTrace returns the advice from the raw file beside a trace, and its path; nil if there is
// none.
func OfTrace(path string, p Params) (r *Report, raw string, err error) {
	raw = Beside(path)
	if _, err := os.Lstat(raw); errors.Is(err, fs.ErrNotExist) {
		return nil, raw, nil
	}
	dir, err := os.OpenRoot(filepath.Dir(raw))
	if err != nil {
		return nil, raw, fmt.Errorf("opening the directory of %s: %w", raw, err)
	}
	defer dir.Close()
	r, err = OfTraceIn(dir, filepath.Base(path), p)
	return r, raw, err
}

// OfTraceIn is like OfTrace for a trace in dir. It does not follow links, so it reads
// nothing outside dir.
func OfTraceIn(dir *os.Root, trace string, p Params) (*Report, error) {
	name := Beside(trace)
	before, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("finding %s: %w", name, err)
	case !before.Mode().IsRegular(): // opening a named pipe would block
		return nil, fmt.Errorf("%s beside the trace is not a regular file: it is not read", name)
	case before.Size() > besideMost:
		return nil, fmt.Errorf("%s is larger than %s: read it with scopeview advise", name, show.Size(besideMost))
	}
	f, err := dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // just removed
	}
	if err != nil {
		return nil, fmt.Errorf("reading advice: %w", err)
	}
	defer f.Close()
	var s source
	if err := s.read(name, f); err != nil {
		return nil, err
	}
	d, err := s.merge()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return Of(d, p), nil
}

// Spares describes the advice that saves most memory; "" if none does. Its place is relative
// to dir if it lies in it.
func (r *Report) Spares(dir string) string {
	f := r.saving()
	if f == nil {
		return ""
	}
	return fmt.Sprintf("scopeview advise: %s: %s; saves %s", Place(f.Site, dir), f.Advice, f.Saves())
}

// saving returns the advice that saves most memory and costs no time; nil if there is none.
func (r *Report) saving() (most *Finding) {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Bytes > 0 && f.NS >= 0 && (most == nil || f.Bytes > most.Bytes) {
			most = f
		}
	}
	return most
}

// Best returns at most count of the first pieces of advice that save at least that share of
// the time.
func (r *Report) Best(count int, share float64) (list []Finding) {
	for _, f := range r.Findings {
		if len(list) < count && f.Share >= share {
			list = append(list, f)
		}
	}
	return list
}
