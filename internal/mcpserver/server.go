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

	// The protocol has a schema for each tool, version negotiation, cancellation and batches. The
	// official SDK implements them; only the tool links it, not the recording packages.
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// Limits of a call.
const (
	largestTrace  = 8 << 30 // bytes, unpacked
	largestSource = 4 << 20
	largestCall   = 256 << 10 // bytes of an incoming message
	mostAnswer    = 12 << 10  // bytes of an answer that is not a brief report
	mostNames     = 10_000    // of files and directories that list looks at
	deepest       = 3         // levels of directories below a given one
)

// Options select the readable files, and limit a call.
type Options struct {
	Traces  []string      // directories and files
	Sources []string      // directories
	Timeout time.Duration // limit of a call
	Memory  int64         // limit of the process's memory in bytes during a call
	Version string        // of the tool
}

// Server answers questions about traces.
type Server struct {
	o       Options
	shelves []shelf
	sources []shelf
	turn    chan struct{} // holds a value while a call is answered
}

// New opens the files and directories in o. The caller must close the server.
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
		// A trace names its sources by absolute paths.
		whole, err := filepath.Abs(dir)
		if err == nil {
			var x shelf
			if x, err = openShelf(whole); err == nil && x.only != "" {
				x.root.Close()
				err = errors.New("it is not a directory")
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

// Close closes the files that New opened.
func (s *Server) Close() {
	for _, x := range append(s.shelves, s.sources...) {
		x.root.Close()
	}
}

// Run answers calls until the client disconnects and has its answers, or ctx is done.
func (s *Server) Run(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	err := s.protocol().Run(ctx, newLines(in, out))
	if errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil // the client is gone
	}
	return err
}

// errTime and errMemory are returned for a call that exceeds a limit.
var (
	errTime   = errors.New("the call exceeded its time limit: ask for a part of the trace with from and to, or use the command line")
	errMemory = errors.New("the call exceeded its memory limit: ask for a part of the trace with from and to, or use the command line")
)

// call answers one call when its turn comes, within its limits.
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
	if ctx.Err() != nil { // the result may be incomplete
		return nil, nil, context.Cause(ctx)
	}
	if err == errNotAllowed {
		return nil, nil, err
	}
	if err != nil { // the error may cite the trace
		text := strings.ReplaceAll(show.Text(err.Error()), "\n", " ")
		return nil, nil, errors.New("it failed: " + report.Span(report.Cut(text, mostError)))
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// mostError bounds an error message that may cite a trace, in bytes.
const mostError = 500

// allowance limits the process's memory during a call.
type allowance struct {
	most uint64
	give context.CancelCauseFunc // cancels the call
	last atomic.Int64            // time of the last check
}

// spent is the key of the allowance in a call's context.
type spent struct{}

// lookEvery is the interval of the memory checks.
const lookEvery = 10 * time.Millisecond

// look cancels the call if the process uses more memory than allowed. It is called at each read,
// because a report's memory grows with the amount that it has read.
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

// fenced returns a table of the command line as an answer, cut to whole lines if it is too long.
func fenced(text string) string {
	if len(text) <= mostAnswer {
		return report.Fenced(text)
	}
	text = text[:strings.LastIndexByte(text[:mostAnswer], '\n')+1]
	return report.Fenced(strings.ToValidUTF8(text, "?")) + "\nThe rest is cut: select less, by name or by time.\n"
}
