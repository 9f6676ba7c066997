package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/goscopes"
	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// sourceKind is a kind of file, other than traces of ours, that TRACE can name.
type sourceKind struct {
	begins  func(head []byte) bool  // head may be as short as format.Magic
	refused func(head []byte) error // the reason why a version of it is not read; nil: all are
	// samples reads samples; nil: a file of this kind has only events, and commands that show samples
	// convert it too.
	samples func(context.Context, io.Reader, *samples.Selection) (*samples.Profile, error)
	// convert writes a trace, for commands that show events; nil: a file of this kind has only
	// samples, and these commands refuse it.
	convert func(context.Context, *os.File, io.Reader, goscopes.Options) error
}

var (
	kindGoTrace = &sourceKind{
		begins:  gowire.Begins,
		refused: func(head []byte) error { _, err := gowire.Version(head); return err },
		samples: samples.OfGoTrace,
		convert: goscopes.Convert,
	}
	kindPprof = &sourceKind{
		begins: func(head []byte) bool {
			return bytes.HasPrefix(head, gzipMagic) || len(head) > 0 && head[0] == profileMagic
		},
		samples: samples.OfPprof,
	}
	sourceKinds = []*sourceKind{kindGoTrace, kindPprof}
)

// profileMagic is a possible first byte of uncompressed profiles in pprof's format.
const profileMagic = 0x0a

// kindOf returns the kind of a file that begins with head; nil: it is none of sourceKinds.
func kindOf(head []byte) *sourceKind {
	i := slices.IndexFunc(sourceKinds, func(k *sourceKind) bool { return k.begins(head) })
	if i < 0 {
		return nil
	}
	return sourceKinds[i]
}

// isTrace reports whether head begins a trace of ours, packed or not, or a file that is converted
// to one.
func isTrace(head []byte) bool {
	if bytes.HasPrefix(head, []byte(format.Magic)) || bytes.HasPrefix(head, []byte(format.PackedMagic)) {
		return true
	}
	k := kindOf(head)
	return k != nil && k.convert != nil
}

// readable reports whether head begins a file that TRACE can name.
func readable(head []byte) bool { return isTrace(head) || kindOf(head) != nil }

// peeked is a file whose first bytes were read ahead.
type peeked struct {
	io.Reader
	io.Closer
}

// sniff determines the kind of a file. It returns nil for a trace, and for other files, which
// opening reports.
func sniff(arg string) (io.ReadCloser, *sourceKind, error) {
	st, err := os.Stat(arg)
	if err != nil || st.IsDir() {
		return nil, nil, nil
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the trace: %w", err)
	}
	b := bufio.NewReaderSize(f, 64<<10)
	head, _ := b.Peek(format.StateOffset)
	kind := kindOf(head)
	if kind == nil {
		return nil, nil, f.Close()
	}
	if kind.refused != nil {
		if err := kind.refused(head); err != nil {
			f.Close()
			return nil, kind, fmt.Errorf("%s: %w", show.Name(arg), err)
		}
	}
	return peeked{b, f}, kind, nil
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
func (c *call) readPlain(arg string, in io.Reader, kind *sourceKind, sel *samples.Selection) (p *samples.Profile, err error) {
	if err := c.plainTimes(); err != nil {
		return nil, err
	}
	sel.Selection = &c.sel.Selection
	if p, err = kind.samples(c.context(), in, sel); err != nil {
		return nil, fmt.Errorf("%s: %w", show.Name(arg), err)
	}
	return p, nil
}
