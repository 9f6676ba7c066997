package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/format"
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
	dirs     []string
}

// remove removes them, also when the command failed or was interrupted.
func (d *downloads) remove() {
	for _, dir := range d.dirs {
		_ = os.RemoveAll(dir)
	}
}

// replace downloads what TRACE names, if it is an address, and gives the command
// the file instead. So every command that takes a TRACE takes an address.
func (d *downloads) replace(cmd *cobra.Command, s *streams, args []string) error {
	if !strings.Contains(cmd.Use, "TRACE") || cmd.Annotations[ownAddress] != "" {
		return nil
	}
	for i, arg := range args {
		if !isAddress(arg) || i > 0 && cmd.Annotations[everyTrace] == "" {
			continue
		}
		a, err := parseAddress(arg)
		if err != nil {
			return err
		}
		if args[i], err = d.fetch(cmd.Context(), s, a); err != nil {
			return err
		}
		if err := tellCopy(cmd, s, a); err != nil {
			return err
		}
	}
	return nil
}

// tellCopy says, for the commands that show what is being written, that this is a copy.
func tellCopy(cmd *cobra.Command, s *streams, a address) error {
	switch cmd.Name() {
	case "serve":
		fmt.Fprintf(s.err, "scopeview: %s: this is a copy made now, which does not grow; ask again for a later one\n", a)
	case "tail":
		fmt.Fprintf(s.err, "scopeview: %s: this is a copy made now: what it holds is shown, and nothing is waited for\n", a)
		if !cmd.Flags().Changed("from") {
			return cmd.Flags().Set("from", "0")
		}
	}
	return nil
}

// fetch downloads a trace into a directory of its own.
func (d *downloads) fetch(ctx context.Context, s *streams, a address) (path string, err error) {
	from := a.URL.String()
	if !a.isFile() {
		from = a.route("download")
	}
	// Whoever does not send for a while is given up.
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return "", usagef("%w", err)
	}
	resp, err := a.ask(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return "", fmt.Errorf("making a directory for the trace: %w", err)
	}
	d.dirs = append(d.dirs, dir)
	path = filepath.Join(dir, fileName(resp, a))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("making a file for the trace: %w", err)
	}
	stalled := fmt.Errorf("nothing came for %v", d.patience)
	timer := time.AfterFunc(d.patience, func() { give(stalled) })
	defer timer.Stop()
	b := &bringing{s: s, all: resp.ContentLength, next: time.Now().Add(progressAfter), more: func() { timer.Reset(d.patience) }}
	err = b.bring(f, resp.Body)
	b.done()
	if e := f.Close(); err == nil {
		err = e
	}
	switch {
	case err == nil:
		if s.errTerm {
			fmt.Fprintf(s.err, "scopeview: %s: %s\n", a, size(b.got))
		}
		return path, nil
	case errors.Is(err, format.ErrNotTrace):
		return "", fmt.Errorf("%s: %w but %s; give the address where scopehttp.Handler is mounted, or that of a *%s file", a, err, contentType(resp), extension)
	case context.Cause(ctx) == stalled:
		err = stalled
	case errors.Is(err, syscall.ENOSPC):
		return "", fmt.Errorf("%s: %w; TMPDIR may name a directory with more space", a, err)
	}
	of := ""
	if b.all > 0 {
		of = " of " + size(b.all)
	}
	return "", fmt.Errorf("%s: the download ended after %s%s; has the program ended? (%w)", a, size(b.got), of, err)
}

// bringing is a download that is under way.
type bringing struct {
	s        *streams
	got, all int64 // all: -1 if it is not known
	next     time.Time
	printed  bool
	more     func() // something came
}

// bring copies a trace. What does not begin like one is not brought to its end.
func (b *bringing) bring(w io.Writer, r io.Reader) error {
	buf := make([]byte, 256<<10)
	n, err := io.ReadFull(r, buf[:len(format.Magic)])
	if err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && string(buf[:n]) != format.Magic {
		return format.ErrNotTrace
	}
	for {
		b.got += int64(n)
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		b.more()
		b.tell()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		n, err = r.Read(buf)
	}
}

// tell shows on a terminal how much is here.
func (b *bringing) tell() {
	now := time.Now()
	if !b.s.errTerm || now.Before(b.next) {
		return
	}
	b.next = now.Add(progressAfter / 5)
	b.printed = true
	of := ""
	if b.all > 0 {
		of = " of " + size(b.all)
	}
	fmt.Fprintf(b.s.err, "\r%s%s \x1b[K", size(b.got), of)
}

// done takes the last word back.
func (b *bringing) done() {
	if b.printed {
		fmt.Fprint(b.s.err, "\r\x1b[K")
	}
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
	name = strings.TrimSuffix(name, extension)
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
