package mcpserver

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lines is a connection with one message, or one batch of messages, per line. It answers an invalid
// line with an error, as JSON-RPC demands, and continues.
//
// It replaces the SDK's IOTransport, which up to v1.8.0, the newest version, ends the session at
// the first invalid line and reads ids as float64: 2⁵³+1 comes back as 2⁵³. Upstream, ioConn should
// answer such a line with -32700 or -32600 and read on behind its end, and jsonrpc2.ID should keep
// the text of a number. Then IOTransport suffices again.
type lines struct {
	in   io.ReadCloser
	out  io.WriteCloser
	most int // maximum bytes of a line

	came     chan line     // closed when in has ended
	closed   chan struct{} // when Close is called
	once     sync.Once
	queue    []jsonrpc.Message // read, but not yet returned by Read
	answered chan struct{}     // receives a value after each answer

	mu    sync.Mutex // held while out is written to
	calls map[string]*call
}

// line is a line without its newline, or the beginning of a long one.
type line struct {
	text []byte
	long bool
	err  error // the error that ended the input, except EOF
}

func newLines(in io.ReadCloser, out io.WriteCloser) *lines {
	return &lines{in: in, out: out, most: largestCall, came: make(chan line), closed: make(chan struct{}), answered: make(chan struct{}, 1), calls: map[string]*call{}}
}

// Connect implements mcp.Transport.
func (c *lines) Connect(context.Context) (mcp.Connection, error) {
	go c.scan()
	return c, nil
}

// SessionID implements mcp.Connection: there is one session.
func (c *lines) SessionID() string { return "" }

// Close implements mcp.Connection.
func (c *lines) Close() (err error) {
	c.once.Do(func() {
		close(c.closed)
		err = errors.Join(c.in.Close(), c.out.Close())
	})
	return err
}

// scan reads lines until the input ends.
func (c *lines) scan() {
	defer close(c.came)
	r := bufio.NewReader(c.in)
	for first := true; ; first = false {
		l, err := readLine(r, c.most)
		if first {
			l.text = bytes.TrimPrefix(l.text, []byte("\uFEFF"))
		}
		if err != io.EOF {
			l.err = err
		}
		select {
		case c.came <- l:
		case <-c.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// readLine reads to the end of a line. It keeps the first most bytes of a longer one.
func readLine(r *bufio.Reader, most int) (l line, err error) {
	for {
		part, err := r.ReadSlice('\n')
		ended := err != bufio.ErrBufferFull
		if ended {
			part = bytes.TrimSuffix(part, []byte("\n"))
		}
		if room := most - len(l.text); len(part) > room {
			part, l.long = part[:room], true
		}
		l.text = append(l.text, part...)
		if ended {
			return l, err
		}
	}
}

// Read implements mcp.Connection: it returns the next message. When the input has ended, it waits
// for the unanswered calls, because the SDK cancels them once it sees the end.
func (c *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		select {
		case l, more := <-c.came:
			if !more {
				return nil, c.drain(ctx)
			}
			if err := cmp.Or(c.take(l), l.err); err != nil {
				return nil, err
			}
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	next := c.queue[0]
	c.queue = c.queue[1:]
	return next, nil
}

// drain waits until all calls are answered, and returns io.EOF.
func (c *lines) drain(ctx context.Context) error {
	for c.pending() {
		select {
		case <-c.answered:
		case <-c.closed:
			return io.EOF
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return io.EOF
}

func (c *lines) pending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, x := range c.calls {
		if !x.parked {
			return true
		}
	}
	return false
}
