// Package fromenv starts a recording configured by environment variables, for
// packages that a program imports for that: scope/auto and scope/hooks.
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

// defaultRing is the size of the ring if neither SCOPEVIEW_RING nor SCOPEVIEW_LIMIT
// is set.
const defaultRing = 256 << 20

// Start begins a recording as the environment configures it, with further options. It
// returns false if SCOPEVIEW is not set. The error fits one line of standard error.
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
		// The file is a parent's trace, or that of an earlier run.
		err = scope.Start(sibling(path), opts...)
	}
	return err
}

// sibling returns a name similar to path that only this process uses.
func sibling(path string) string {
	base := strings.TrimSuffix(path, ".scope")
	return fmt.Sprintf("%s-%d-%08x.scope", base, os.Getpid(), rand.Uint32())
}

// size returns the option for how much is kept: the last bytes, or the first.
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

// parseBytes parses a number of bytes with an optional suffix K, M or G, in powers of
// 1024.
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
