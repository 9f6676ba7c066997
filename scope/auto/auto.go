// Package auto starts a recording when the environment says so, without a
// change to the program but its import:
//
//	import _ "github.com/scopeview/scopeview/scope/auto"
//
//	SCOPEVIEW=traces/ ./program
//
// SCOPEVIEW is a directory or a file, as scope.Start takes it. SCOPEVIEW_FILTER
// is a filter as scope.SetFilter takes it, SCOPEVIEW_LIMIT the bytes that the
// trace may grow to (1073741824, 512M, 4G, none). Without SCOPEVIEW nothing is
// recorded.
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
		if err := start(path, os.Getenv("SCOPEVIEW_FILTER"), os.Getenv("SCOPEVIEW_LIMIT")); err != nil {
			fmt.Fprintf(os.Stderr, "scopeview: not recording: %v\n", err)
		}
	}
}

func start(path, filter, limit string) error {
	bytes, err := parseLimit(limit)
	if err != nil {
		return err
	}
	opts := []scope.Option{scope.WithFilter(filter), scope.WithLimit(bytes)}
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

// parseLimit reads a number of bytes with K, M or G behind it, in powers of
// 1024; none is no limit, and nothing the default.
func parseLimit(s string) (int64, error) {
	switch s {
	case "":
		return scope.DefaultLimit, nil
	case "none":
		return scope.NoLimit, nil
	}
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
		return 0, fmt.Errorf("SCOPEVIEW_LIMIT=%s: write bytes, as 1073741824, 512M or 4G, or none", s)
	}
	return n << shift, nil
}
