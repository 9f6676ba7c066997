package main

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
)

// downloads are the traces that were copied to this machine for one command.
type downloads struct {
	patience time.Duration // how long a transfer may stall
	in       string        // directory for them; "": that for temporary files
	dirs     []string
	stdin    bool // standard input was read
}

// remove removes the copies, also when the command failed or was interrupted.
func (d *downloads) remove() {
	for _, dir := range d.dirs {
		_ = os.RemoveAll(dir)
	}
}

// replace copies the traces that the TRACEs of a command name to this machine, unless they can be
// read in place, and replaces the arguments by the files. So every command that takes a TRACE
// accepts an address, a stream, and compressed files.
func (d *downloads) replace(c *call) error {
	if c.takes == takesNothing {
		return nil
	}
	for i, arg := range c.args {
		if c.row.word(i) != "TRACE" {
			break
		}
		path, copyOf, err := d.local(c, arg)
		if err != nil {
			return err
		}
		c.args[i] = path
		if copyOf != "" {
			if err := c.warnCopy(copyOf); err != nil {
				return err
			}
		}
	}
	if c.with == "" {
		return nil
	}
	var err error
	c.with, _, err = d.local(c, c.with)
	return err
}

// local returns the file to read for TRACE and, if it is a copy of a trace that may grow, the name of
// that for messages.
func (d *downloads) local(c *call, arg string) (path, copyOf string, err error) {
	path, name, err := d.localFile(c.context(), c.s, arg)
	if err != nil {
		return "", "", err
	}
	if path != arg {
		copyOf = name
	}
	if path != arg && !isAddress(arg) {
		c.s.setName(path, name)
	}
	made, err := d.converted(c.context(), c.s, path, name, c.takes == takesSource)
	if made != path {
		copyOf = "" // Go execution traces are not expected to grow
	}
	return made, copyOf, err
}

// warnCopy warns, for the commands that show a trace being written, that this is a copy.
func (c *call) warnCopy(name string) error {
	switch c.row.name {
	case "serve":
		fmt.Fprintf(c.s.err, "scopeview: %s: this copy was made now and does not grow; run the command again for a later one\n", name)
	case "tail":
		fmt.Fprintf(c.s.err, "scopeview: %s: this copy was made now: its contents are shown, without waiting for more\n", name)
		if !c.changed("from") {
			return c.flags().Set("from", "0")
		}
	}
	return nil
}

// localFile returns the file for TRACE: arg itself, if it can be read at random, or else a copy. name
// is the name for messages.
func (d *downloads) localFile(ctx context.Context, s *streams, arg string) (path, name string, err error) {
	if isAddress(arg) {
		a, err := parseAddress(arg)
		if err != nil {
			return "", "", err
		}
		path, err = d.fetch(ctx, s, a)
		return path, a.String(), err
	}
	in, err := d.stream(ctx, s, arg)
	if in == nil || err != nil {
		return arg, arg, err
	}
	defer in.from.Close()
	if path, err = d.spool(ctx, s, in); err != nil {
		return "", "", explainSpool(in, err)
	}
	return path, in.name, nil
}

// explainSpool describes why a stream could not be read to its end.
func explainSpool(in *incoming, err error) error {
	var failed *sourceError
	if errors.As(err, &failed) {
		return fmt.Errorf("reading %s: %w", in.name, failed.err)
	}
	return fmt.Errorf("%s: %w", in.name, err)
}

// fetch downloads a trace into a directory of its own.
func (d *downloads) fetch(ctx context.Context, s *streams, a address) (path string, err error) {
	from := a.URL.String()
	if !a.isFile() {
		from = a.route("download")
	}
	// A server that sends nothing for a while is given up.
	until, give := context.WithCancelCause(ctx)
	defer give(nil)
	r, err := http.NewRequestWithContext(until, http.MethodGet, from, nil)
	if err != nil {
		return "", usagef("%w", err)
	}
	resp, err := a.ask(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	patience := d.patience + a.seconds()
	stalled := fmt.Errorf("nothing came for %v", patience)
	timer := time.AfterFunc(patience, func() { give(stalled) })
	defer timer.Stop()
	in := &incoming{
		name: a.String(), file: fileName(resp, a), from: resp.Body, all: resp.ContentLength,
		more: func() { timer.Reset(patience) },
	}
	path, err = d.spool(until, s, in)
	var failed *sourceError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		if s.errTerm {
			fmt.Fprintf(s.err, "scopeview: %s: %s\n", a, show.Size(in.got.Load()))
		}
		return path, nil
	case errors.Is(err, format.ErrNotTrace):
		return "", fmt.Errorf("%s: %w but %s; give the address where scopehttp.Handler is mounted, or that of a *%s file", a, err, contentType(resp), extension)
	case context.Cause(until) == stalled:
		err = stalled
	case errors.As(err, &failed):
		err = failed.err
	default:
		return "", explainSpool(in, err)
	}
	of := ""
	if in.all > 0 {
		of = " of " + show.Size(in.all)
	}
	return "", fmt.Errorf("%s: the download ended after %s%s; has the program ended? (%w)", a, show.Size(in.got.Load()), of, err)
}

// fileName returns the server's name for the trace, or the last part of its address: the commands
// show it.
func fileName(resp *http.Response, a address) string {
	name := ""
	if _, p, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil {
		name = p["filename"]
	}
	if name == "" && a.isFile() {
		name = filepath.Base(a.Path)
	}
	return copyName(name)
}

// copyName returns a file name for the copy of the file called name.
func copyName(name string) string {
	for _, end := range []string{".zst", ".gz", packedExtension, extension} {
		name = strings.TrimSuffix(name, end)
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
	if name = strings.TrimLeft(name, "."); name == "" {
		name = "trace"
	}
	return name[:min(len(name), 100)] + extension
}

func contentType(resp *http.Response) string {
	if t, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil {
		return t
	}
	return "something else"
}
