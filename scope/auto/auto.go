// Package auto starts a recording when the environment says so, without a
// change to the program but its import:
//
//	import _ "github.com/scopeview/scopeview/scope/auto"
//
//	SCOPEVIEW=traces/ ./program
//
// SCOPEVIEW is a directory or a file, as scope.Start takes it. SCOPEVIEW_FILTER
// is a filter as scope.SetFilter takes it. The last 256 MiB are kept, as by
// scope.WithRing, or as many bytes as SCOPEVIEW_RING says (67108864, 64M, 4G). With
// SCOPEVIEW_LIMIT instead, what comes first is kept, up to so many bytes; none is
// no limit. Without SCOPEVIEW nothing is recorded.
//
// The recording is not stopped when the program ends: Go has no hook for that,
// and a trace needs no Stop. A child process that inherits the variable gets a
// file of its own: in a directory by its name, else beside the one that exists.
//
// Where SCOPEVIEW is set and recording can't start, one line on standard error
// says why, and the program runs on. It is the only line that this module's
// libraries ever print.
package auto

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/scope"
)

func init() {
	if path := os.Getenv("SCOPEVIEW"); path != "" {
		if err := start(path, os.Getenv("SCOPEVIEW_FILTER"), os.Getenv("SCOPEVIEW_RING"), os.Getenv("SCOPEVIEW_LIMIT")); err != nil {
			fmt.Fprintf(os.Stderr, "scopeview: not recording: %v\n", err)
		}
	}
}

// defaultRing is what is kept where nothing else is said.
const defaultRing = 256 << 20

func start(path, filter, ring, limit string) error {
	size, err := size(ring, limit)
	if err != nil {
		return err
	}
	opts := []scope.Option{scope.WithFilter(filter), size}
	err = scope.Start(path, opts...)
	if errors.Is(err, scope.ErrExists) {
		// A parent's trace, or that of an earlier run.
		err = scope.Start(sibling(path), opts...)
	}
	return err
}

// sibling is a name beside path that is this process's alone.
func sibling(path string) string {
	base := strings.TrimSuffix(path, ".scope")
	return fmt.Sprintf("%s-%d-%08x.scope", base, os.Getpid(), rand.Uint32())
}

// size is how much is kept: the last bytes, or the first.
func size(ring, limit string) (scope.Option, error) {
	switch {
	case ring != "" && limit != "":
		return nil, errors.New("SCOPEVIEW_RING and SCOPEVIEW_LIMIT: keep the last bytes or the first, not both")
	case limit == "none":
		return scope.WithLimit(scope.NoLimit), nil
	case limit != "":
		n, err := parseBytes(limit)
		if err != nil {
			return nil, fmt.Errorf("SCOPEVIEW_LIMIT=%s: %w, or none", limit, err)
		}
		return scope.WithLimit(n), nil
	case ring != "":
		n, err := parseBytes(ring)
		if err != nil {
			return nil, fmt.Errorf("SCOPEVIEW_RING=%s: %w", ring, err)
		}
		return scope.WithRing(n), nil
	}
	return scope.WithRing(defaultRing), nil
}

// parseBytes reads a number of bytes with K, M or G behind it, in powers of 1024.
func parseBytes(s string) (int64, error) {
	digits, shift := s, 0
	switch s[len(s)-1] {
	case 'k', 'K':
		shift = 10
	case 'm', 'M':
		shift = 20
	case 'g', 'G':
		shift = 30
	}
	if shift > 0 {
		digits = s[:len(s)-1]
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > (1<<62)>>shift {
		return 0, errors.New("write bytes, as 1073741824, 512M or 4G")
	}
	return n << shift, nil
}
