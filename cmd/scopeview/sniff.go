package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// sourceKind is a kind of file that TRACE can name.
type sourceKind int

const (
	kindTrace sourceKind = iota
	kindGoTrace
	kindPprof
)

// peeked is a file whose first bytes were read ahead.
type peeked struct {
	io.Reader
	io.Closer
}

// sniff determines the kind of a file. It returns nil for a trace, and for other files, which
// opening reports.
func sniff(arg string) (io.ReadCloser, sourceKind, error) {
	st, err := os.Stat(arg)
	if err != nil || st.IsDir() {
		return nil, kindTrace, nil
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, kindTrace, fmt.Errorf("opening the trace: %w", err)
	}
	b := bufio.NewReaderSize(f, 64<<10)
	head, _ := b.Peek(format.StateOffset)
	switch {
	case bytes.HasPrefix(head, []byte(goMagic)):
		if _, err := gowire.Version(head); err != nil {
			f.Close()
			return nil, kindGoTrace, fmt.Errorf("%s: %w", show.Name(arg), err)
		}
		return peeked{b, f}, kindGoTrace, nil
	case bytes.HasPrefix(head, gzipMagic), len(head) > 0 && head[0] == profileMagic:
		return peeked{b, f}, kindPprof, nil
	}
	return nil, kindTrace, f.Close()
}

// plainTimes parses the times for a file that is not a recording.
func (c *call) plainTimes() error {
	for _, m := range []struct {
		flag, text string
		to         *int64
	}{{"--from", c.sel.fromText, &c.sel.From}, {"--to", c.sel.toText, &c.sel.To}} {
		if m.text == "" {
			continue
		}
		d, err := time.ParseDuration(m.text)
		if err != nil || d < 0 {
			return usagef("%s %s: for a file that is not a recording, give a time from its begin, such as 1.5s", m.flag, m.text)
		}
		*m.to = int64(d)
	}
	return nil
}

// readPlain reads the samples of a file that is not a recording.
func (c *call) readPlain(arg string, in io.Reader, kind sourceKind, sel *samples.Selection) (p *samples.Profile, err error) {
	if err := c.plainTimes(); err != nil {
		return nil, err
	}
	sel.Selection = &c.sel.Selection
	if kind == kindGoTrace {
		p, err = samples.OfGoTrace(c.context(), in, sel)
	} else {
		p, err = samples.OfPprof(c.context(), in, sel)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", show.Name(arg), err)
	}
	return p, nil
}
