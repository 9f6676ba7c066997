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

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
)

// ownAddress is the annotation of a command that does something with an address
// other than looking at the trace that is there.
const ownAddress = "address"

// everyTrace is the annotation of a command of which each argument is a TRACE, not the first
// alone.
const everyTrace = "traces"

// downloads are the traces that were brought here for one command.
type downloads struct {
	patience time.Duration // how long nothing may come
	in       string        // the directory for them; "": that for temporary files
	dirs     []string
	stdin    bool // standard input was read
}

// remove removes them, also when the command failed or was interrupted.
func (d *downloads) remove() {
	for _, dir := range d.dirs {
		_ = os.RemoveAll(dir)
	}
}

// replace brings here what TRACE names, if that can't be read as it is, and gives the command
// the file instead. So every command that takes a TRACE takes an address, a stream, and what
// is compressed.
func (d *downloads) replace(cmd *cobra.Command, s *streams, args []string) error {
	if !strings.Contains(cmd.Use, "TRACE") || cmd.Annotations[ownAddress] != "" {
		return nil
	}
	for i, arg := range args {
		if i > 0 && cmd.Annotations[everyTrace] == "" {
			break
		}
		path, name, err := d.bring(cmd.Context(), s, arg)
		if err != nil {
			return err
		}
		if path != arg && !isAddress(arg) {
			s.means(path, name)
		}
		made, err := d.ofGoTrace(cmd, s, path, name)
		if err != nil {
			return err
		}
		args[i] = made
		if path == arg || made != path {
			continue // of a Go execution trace nobody thinks that it grows
		}
		if err := tellCopy(cmd, s, name); err != nil {
			return err
		}
	}
	return d.with(cmd, s)
}

// tellCopy says, for the commands that show what is being written, that this is a copy.
func tellCopy(cmd *cobra.Command, s *streams, name string) error {
	switch cmd.Name() {
	case "serve":
		fmt.Fprintf(s.err, "scopeview: %s: this is a copy made now, which does not grow; ask again for a later one\n", name)
	case "tail":
		fmt.Fprintf(s.err, "scopeview: %s: this is a copy made now: what it holds is shown, and nothing is waited for\n", name)
		if !cmd.Flags().Changed("from") {
			return cmd.Flags().Set("from", "0")
		}
	}
	return nil
}

// bring returns the file of what TRACE names: arg itself, if it can be read at random as it
// is, or else a copy. name is what the user calls it.
func (d *downloads) bring(ctx context.Context, s *streams, arg string) (path, name string, err error) {
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

// explainSpool says in words why a stream was not brought to its end.
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
	// Whoever does not send for a while is given up.
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

// fileName is what the server calls the trace, or where it was: the commands
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

// copyName is a file name for the copy of what is called name.
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
