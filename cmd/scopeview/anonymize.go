package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/scopeview/scopeview/internal/anonymize"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

func newAnonymize(c *call) func() error {
	salt := c.flags().String("salt", "", "hash with the key `TEXT`, so that copies can be compared (default: a random one)")
	return func() error {
		if c.out.standard() && c.s.outTerm {
			return usagef("anonymize writes a binary trace, not for a terminal: give -o FILE")
		}
		if c.changed("salt") && *salt == "" {
			return usagef("--salt is empty; give a secret text, or omit --salt")
		}
		path, err := findTrace(c.args[0])
		if err != nil {
			return err
		}
		if err := c.out.notOver(path); err != nil {
			return err
		}
		f, length, still, err := stillTrace(c.context(), path, &c.out)
		if err != nil {
			return err
		}
		defer still()
		var res anonymize.Result
		err = c.out.write(c.s, func(w io.Writer) (err error) {
			if res, err = anonymize.Write(untilDone{c.context(), w}, f, length, *salt); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			return nil
		})
		if err == nil && res.GoTrace > 0 {
			fmt.Fprintf(c.s.err, "scopeview: the Go execution trace (%s) is full of names and was left out: the copy has no states of goroutines\n", show.Size(res.GoTrace))
		}
		if err == nil && res.Files > 0 {
			fmt.Fprintf(c.s.err, "scopeview: the executable and the sources (%s) were left out\n", show.Size(res.Files))
		}
		if err == nil && res.Dropped > 0 {
			fmt.Fprintf(c.s.err, "scopeview: left out %s that are invalid or of a later version\n", show.Plural(res.Dropped, "part"))
		}
		return err
	}
}

// stillTrace opens a trace that does not change. If the trace is being written, it makes a
// snapshot, which done removes.
func stillTrace(ctx context.Context, path string, out *output) (f *trace.Reading, size int64, done func(), err error) {
	if f, size, err = openFile(ctx, path); err != nil {
		return nil, 0, nil, err
	}
	tr, err := trace.Open(f, size)
	if err != nil {
		f.Close()
		return nil, 0, nil, fmt.Errorf("%s: %w", path, err)
	}
	if alive, known := trace.WriterAlive(f.Trace()); tr.State().Closed || known && !alive {
		return f, size, func() { f.Close() }, nil
	}
	f.Close()
	temp := strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	if out.standard() {
		temp = os.TempDir() + string(os.PathSeparator) + "scopeview-" + temp
	} else {
		temp = out.path + "." + temp
	}
	if _, err := takeSnapshot(ctx, path, temp); err != nil {
		return nil, 0, nil, err
	}
	if f, size, err = openFile(ctx, temp); err != nil {
		os.Remove(temp)
		return nil, 0, nil, err
	}
	return f, size, func() {
		f.Close()
		os.Remove(temp)
	}, nil
}
