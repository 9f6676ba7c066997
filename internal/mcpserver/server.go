package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"

	// The protocol has a schema for each tool, versions that are agreed on, cancellation and batches. The
	// official SDK has all of them; it is linked by the tool alone, and not by what it records.
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// What a call may take.
const (
	largestTrace  = 8 << 30 // bytes, unpacked
	largestSource = 4 << 20
	largestCall   = 256 << 10 // bytes of a message that comes in
	mostAnswer    = 12 << 10  // bytes of an answer that is no brief report
	mostNames     = 10_000    // of a directory that are looked at
	deepest       = 3         // directories below one that was given
)

// Options say what may be read, and what a call may take.
type Options struct {
	Traces  []string      // directories and files
	Sources []string      // directories
	Timeout time.Duration // of a call
	Memory  int64         // bytes that the process may have while one is answered
	Version string        // of the tool
}

// Server answers questions about traces.
type Server struct {
	o       Options
	shelves []shelf
	sources []shelf
	turn    chan struct{} // has a value while a call is answered
}

// New opens what may be read. The caller closes it.
func New(o Options) (*Server, error) {
	s := &Server{o: o, turn: make(chan struct{}, 1)}
	for _, arg := range o.Traces {
		x, err := openShelf(arg)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.shelves = append(s.shelves, x)
	}
	for _, dir := range o.Sources {
		// A trace has its sources by whole paths.
		whole, err := filepath.Abs(dir)
		if err == nil {
			var x shelf
			if x, err = openShelf(whole); err == nil && x.only != "" {
				x.root.Close()
				err = errors.New("it is no directory")
			}
			if err == nil {
				s.sources = append(s.sources, x)
			}
		}
		if err != nil {
			s.Close()
			return nil, fmt.Errorf("the directory of sources %s: %w", dir, err)
		}
	}
	return s, nil
}

// Close closes what New has opened.
func (s *Server) Close() {
	for _, x := range append(s.shelves, s.sources...) {
		x.root.Close()
	}
}

// Run answers until the client goes and has what it asked for, or ctx is done.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	err := s.protocol().Run(ctx, newLines(in, out))
	if errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil // the client is gone
	}
	return err
}

// errTime and errMemory end a call.
var (
	errTime   = errors.New("the call took longer than is allowed: ask for a part of the trace with from and to, or use the command line")
	errMemory = errors.New("the call needs more memory than is allowed: ask for a part of the trace with from and to, or use the command line")
)

// call answers one call, when it is its turn, within what it may take.
func (s *Server) call(ctx context.Context, answer func(ctx context.Context) (string, error)) (*mcp.CallToolResult, any, error) {
	ctx, stop := context.WithTimeoutCause(ctx, s.o.Timeout, errTime)
	defer stop()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	text, err := answer(context.WithValue(ctx, spent{}, &allowance{most: uint64(s.o.Memory), give: give}))
	if ctx.Err() != nil { // whatever was read by then is not all
		return nil, nil, context.Cause(ctx)
	}
	if err == errNotAllowed {
		return nil, nil, err
	}
	if err != nil { // it may cite the trace
		text := strings.ReplaceAll(show.Text(err.Error()), "\n", " ")
		return nil, nil, errors.New("it failed: " + report.Span(report.Cut(text, mostError)))
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// mostError bounds a sentence that may cite a trace.
const mostError = 500

// allowance is the memory that the process may have while a call is answered.
type allowance struct {
	most uint64
	give context.CancelCauseFunc // gives the call up
	last atomic.Int64            // when the memory was looked at
}

// spent is the key of the allowance in a call's context.
type spent struct{}

// lookEvery is how often the memory is looked at.
const lookEvery = 10 * time.Millisecond

// look gives the call up if the process has more memory than it may. It is called at each reading: what
// a report takes grows with what it has read.
func (a *allowance) look() {
	now, last := time.Now().UnixNano(), a.last.Load()
	if now-last < int64(lookEvery) || !a.last.CompareAndSwap(last, now) {
		return
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(sample); sample[0].Value.Kind() == metrics.KindUint64 && sample[0].Value.Uint64() > a.most {
		a.give(errMemory)
	}
}

// fenced is a table of the command line as an answer, with as many lines as there is room for.
func fenced(text string) string {
	if len(text) <= mostAnswer {
		return report.Fenced(text)
	}
	text = text[:strings.LastIndexByte(text[:mostAnswer], '\n')+1]
	return report.Fenced(strings.ToValidUTF8(text, "?")) + "\nThis is the begin: ask for less, by name or by time.\n"
}
