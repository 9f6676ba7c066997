// Package fromenv starts a recording as the environment says, for the packages that a
// program imports to have that done: scope/auto and scope/hooks.
package fromenv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/scope"
)

// defaultRing is what is kept where nothing else is said.
const defaultRing = 256 << 20

// Start begins a recording as the environment says, with the options more. started is
// false where it says nothing. The error is for one line on standard error.
func Start(more ...scope.Option) (started bool, err error) {
	path := os.Getenv("SCOPEVIEW")
	if path == "" {
		return false, nil
	}
	err = start(path, os.Getenv("SCOPEVIEW_FILTER"), os.Getenv("SCOPEVIEW_RING"), os.Getenv("SCOPEVIEW_LIMIT"), more)
	return err == nil, err
}

func start(path, filter, ring, limit string, more []scope.Option) error {
	size, err := size(ring, limit)
	if err != nil {
		return err
	}
	opts := append([]scope.Option{scope.WithFilter(filter), size}, more...)
	if s := os.Getenv("SCOPEVIEW_BUFFER"); s != "" {
		n, err := parseBytes(s)
		if err != nil {
			return fmt.Errorf("SCOPEVIEW_BUFFER=%s: %w", s, err)
		}
		opts = append(opts, scope.WithBuffer(n))
	}
	for _, add := range []func([]scope.Option) ([]scope.Option, error){backing, cpu, sampled} {
		if opts, err = add(opts); err != nil {
			return err
		}
	}
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
