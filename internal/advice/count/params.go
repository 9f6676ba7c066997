package count

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/newfile"
)

// params are the parameters of counting, from the environment or a .conf file.
type params struct {
	Path   string
	Depth  int         // frames of a call stack that distinguish rows; 0: one row per kind
	Memory int64       // bytes for the instances of a kind
	asleep func() bool // reports whether only the recorder's goroutines can continue; nil: unknown
	Share  float64     // of the time, in which operations are reported; 1: and nothing is sampled
}

// The environment variable, and the names in a .conf file.
const (
	Variable = "SCOPEVIEW_ADVISE"
	depth    = "depth"
	memory   = "memory"
	share    = "share"
)

// named returns the parameters by name, as in a .conf file.
func (p params) named() map[string]string {
	return map[string]string{depth: strconv.Itoa(p.Depth), memory: strconv.FormatInt(p.Memory, 10), share: strconv.FormatFloat(p.Share, 'g', -1, 64)}
}

// FromEnv starts counting if the environment has a destination: SCOPEVIEW_ADVISE is a path
// without its extension, or a directory with a trailing slash. In a directory the raw file
// is named after the trace, if one is recorded. The file PATH.conf, and
// SCOPEVIEW_ADVISE_DEPTH, _MEMORY and _SHARE, set the parameters. When asleep reports that
// only the recorder's goroutines can continue, counting ends, so that Go can detect the
// deadlock.
func FromEnv(trace string, asleep func() bool) error {
	path := os.Getenv(Variable)
	if path == "" {
		return nil
	}
	p := params{Depth: Depth, Memory: 128 << 20, Share: 0.05}
	if strings.HasSuffix(path, "/") || strings.HasSuffix(path, string(filepath.Separator)) {
		name := "program-" + strconv.Itoa(os.Getpid())
		if exe, err := os.Executable(); err == nil {
			name = strings.TrimSuffix(filepath.Base(exe), ".exe") + "-" + strconv.Itoa(os.Getpid())
		}
		if trace != "" {
			name = strings.TrimSuffix(filepath.Base(trace), ".scope")
		}
		p.Path = path + name + ".raw"
	} else {
		p.Path = path + ".raw"
		if err := p.read(path + ".conf"); err != nil {
			return err
		}
	}
	for _, name := range [...]string{depth, memory, share} {
		if v := os.Getenv(Variable + "_" + strings.ToUpper(name)); v != "" {
			if err := p.set(name, v); err != nil {
				return fmt.Errorf("%s_%s: %w", Variable, strings.ToUpper(name), err)
			}
		}
	}
	p.asleep = asleep
	return start(p)
}

// confMost is the maximum number of bytes read of a file of parameters.
const confMost = 1 << 20

// read sets the parameters from the file at path, if there is one.
func (p *params) read(path string) error {
	f, err := newfile.Existing(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the parameters of advice: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, confMost))
	if err != nil {
		return fmt.Errorf("reading the parameters of advice: %w", err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		name, value, ok := strings.Cut(line, "=")
		if ok && !strings.HasPrefix(line, "#") {
			if err := p.set(strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
	}
	return nil
}

// set sets a parameter; those of the tool are ignored.
func (p *params) set(name, value string) error {
	n, err := strconv.ParseFloat(value, 64)
	switch name {
	case depth:
		if err != nil || n < 0 || n > Depth {
			return fmt.Errorf("%s: give the number of frames that distinguish call stacks, 0 to %d", value, Depth)
		}
		p.Depth = int(n)
	case memory:
		if err != nil || n < 1<<16 || n > math.MaxInt32*16 {
			return fmt.Errorf("%s: give the memory in bytes for followed objects, 65536 or more", value)
		}
		p.Memory = int64(n)
	case share:
		if err != nil || !(n > 0 && n <= 1) {
			return fmt.Errorf("%s: give the share of the time in which operations are sampled, above 0 to 1", value)
		}
		p.Share = n
	}
	return nil
}
