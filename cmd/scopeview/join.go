package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/snapshot"
	"github.com/scopeview/scopeview/internal/trace"
)

func newJoin(c *call) func() error {
	output := c.flags().StringP("output", "o", "", "write to the new `FILE`, which appears when it is complete (default: beside the trace, with -joined in its name)")
	return func() error {
		to := *output
		if to == "-" {
			return usagef("-o -: a joined trace can't be written to standard output; give a file")
		}
		got := downloads{patience: stalledAfter}
		defer got.remove()
		path, _, err := got.localFile(c.context(), c.s, c.args[1])
		if err != nil {
			return err
		}
		g, err := openGoTrace(path)
		if err != nil {
			return err
		}
		defer g.Close()
		src, beside, err := sourceOf(c.context(), c.s, c.args[0])
		if err != nil {
			return err
		}
		defer src.remove()
		if to == "" {
			to = filepath.Join(beside, strings.TrimSuffix(filepath.Base(src.path), extension)+"-joined"+extension)
		}
		if err := join(c.context(), c.s, src.path, g, to); err != nil {
			return err
		}
		name := to
		if c.s.outTerm {
			name = show.Name(name)
		}
		_, err = fmt.Fprintln(c.s.out, name)
		return err
	}
}

// goTraceFile is a Go execution trace in a file.
type goTraceFile struct {
	*os.File
	in   *bufio.Reader // from its begin on
	size int64         // 0: not known, as of a pipe
}

// openGoTrace opens a file that begins like a Go execution trace which can be read.
func openGoTrace(path string) (*goTraceFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the Go execution trace: %w", err)
	}
	g := &goTraceFile{File: f, in: bufio.NewReaderSize(f, 64<<10)}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = errors.New("it is a directory; give the file")
	}
	if err == nil {
		if st.Mode().IsRegular() {
			g.size = st.Size()
		}
		head, _ := g.in.Peek(gotrace.HeaderSize)
		if err = gotrace.CheckHeader(head); err != nil && !strings.HasPrefix(string(head), "go 1.") {
			err = fmt.Errorf("%w; give a file written by runtime/trace, go test -trace or /debug/pprof/trace", err)
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s can't be joined: %w", path, err)
	}
	return g, nil
}

// join writes to to the trace at from with g added. The file appears when it is complete; after an
// error nothing is left.
func join(ctx context.Context, s *streams, from string, g *goTraceFile, to string) error {
	if err := mustNotExist(to); err != nil {
		return err
	}
	stream, chunk, err := nextStream(ctx, from)
	if err != nil {
		return err
	}
	temp := to + "." + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	defer os.Remove(temp)
	part := make([]byte, chunk-format.ChunkHeaderSize-format.BlockHeaderSize-format.GoTraceHeadSize)
	total := int64(0)
	res, err := copyTrace(ctx, from, temp, snapshot.Options{
		Facts: []snapshot.Fact{{Key: "snapshot_reason", Value: "joined by scopeview join"}, {Key: gotrace.FactJoined, Value: filepath.Base(g.Name())}},
		Room:  g.size + g.size/int64(len(part))*(chunk-int64(len(part))) + chunk,
		Blocks: func(add func(format.BlockType, []byte) error) error {
			var err error
			total, err = g.parts(ctx, part, func(seq uint32, part []byte) error {
				return add(format.BlockGoTrace, format.AppendGoTrace(nil, stream, seq, part))
			})
			return err
		},
	})
	if err != nil {
		return err
	}
	if res.Missed > 0 {
		fmt.Fprintf(s.err, "scopeview: the program overwrote %s of its ring before they were copied\n", show.Plural(int64(res.Missed), "chunk"))
	}
	if err := checkJoined(ctx, s, temp, stream, total, g.Name()); err != nil {
		return err
	}
	return renameNew(temp, to)
}

// nextStream returns the number of the next Go execution trace of a trace, and the trace's chunk
// size.
func nextStream(ctx context.Context, path string) (stream uint32, chunk int64, err error) {
	t, err := trace.OpenFileUntil(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	defer t.Close()
	stream = 1
	for _, g := range t.GoTraces() { // by their numbers
		stream = g.Stream + 1
	}
	if stream == 0 {
		return 0, 0, fmt.Errorf("%s: no number is left for another Go execution trace", path)
	}
	return stream, int64(t.Header().ChunkSize), nil
}

// parts calls f with each part of a Go execution trace, and returns its size.
func (g *goTraceFile) parts(ctx context.Context, buf []byte, f func(seq uint32, part []byte) error) (n int64, err error) {
	for seq := uint32(0); ; seq++ {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		m, err := io.ReadFull(g.in, buf)
		if m > 0 {
			n += int64(m)
			if err := f(seq, buf[:m]); err != nil {
				return n, err
			}
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return n, nil
		case err != nil:
			return n, fmt.Errorf("reading the Go execution trace: %w", err)
		}
	}
}

// checkJoined returns an error if the Go execution trace of that number is not of the trace's
// process and time, or if that can't be checked.
func checkJoined(ctx context.Context, s *streams, path string, stream uint32, size int64, name string) error {
	t, err := trace.OpenFileUntil(ctx, path)
	if err != nil {
		return err
	}
	defer t.Close()
	for _, g := range t.GoTraces() {
		if g.Stream == stream && (g.Missing || g.Size != size) { // the program has begun one too
			return fmt.Errorf("%s can't be joined: the program that writes the trace records a Go execution trace of its own just now; try again", name)
		}
	}
	defer context.AfterFunc(ctx, func() { t.Close() })() // so that reading fails
	p := newProgress(s, t, true)
	defer p.done()
	info, err := gotrace.ReadStream(t, stream, gotrace.Handler{Transition: func(tr *gotrace.Transition) { p.at(tr.Time) }})
	p.done()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	}
	var problems []string
	for _, text := range info.Problems {
		problems = append(problems, strings.TrimPrefix(text, fmt.Sprintf("Go execution trace %d: ", stream)))
	}
	switch {
	case len(info.Stretches) == 0 && len(problems) > 0:
		return fmt.Errorf("%s can't be joined: %s", name, strings.Join(problems, "; "))
	case len(info.Stretches) == 0:
		return fmt.Errorf("%s can't be joined: it does not overlap the trace's time: it is of another time or machine", name)
	case info.Checked == 0:
		return fmt.Errorf("%s can't be joined: no scope of a known goroutine begins or ends in its time, so its process can't be checked", name)
	}
	for _, text := range problems {
		fmt.Fprintf(s.err, "scopeview: %s: %s\n", show.Text(name), show.Text(text))
	}
	return nil
}

// mustNotExist returns an error if the file exists.
func mustNotExist(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w; give another name with -o, or remove the file", path, fs.ErrExist)
	}
	return nil
}

// renameNew renames a file. It does not overwrite a file that has appeared under that name meanwhile,
// if the file system has links.
func renameNew(temp, path string) error {
	if os.Link(temp, path) == nil {
		return nil // temp is removed by the caller
	}
	if err := mustNotExist(path); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
