package main

import (
	"io"
	"os"
	"runtime"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/scopeview/scopeview/internal/report"
)

// streams are a command's standard streams, and their properties.
type streams struct {
	out, err         io.Writer
	in               io.Reader
	outTerm, errTerm bool // they are terminals
	inTerm           bool
	color            bool              // out may be coloured
	completing       bool              // the shell asks for completions
	names            map[string]string // the user's names of temporary files
}

func standardStreams() *streams {
	s := &streams{
		out: os.Stdout, outTerm: term.IsTerminal(int(os.Stdout.Fd())),
		err: os.Stderr, errTerm: term.IsTerminal(int(os.Stderr.Fd())),
		in: os.Stdin, inTerm: term.IsTerminal(int(os.Stdin.Fd())),
	}
	s.color = s.outTerm && os.Getenv("NO_COLOR") == "" && colours()
	return s
}

// colours reports whether a terminal here supports colours. Of the consoles on Windows only some
// do, and announce it.
func colours() bool {
	if runtime.GOOS == "windows" {
		return os.Getenv("WT_SESSION") != "" || os.Getenv("TERM") != ""
	}
	return os.Getenv("TERM") != "dumb"
}

// alarm returns text for standard error, marked as an error.
func (s *streams) alarm(text string) string {
	b := report.Text{Color: s.errTerm && s.color}
	return b.Red(text)
}

// caretWriter passes text on to a terminal and makes control characters except newlines visible:
// ESC becomes ^[. It is for output that is exact in a file, but goes to a terminal.
type caretWriter struct {
	w    io.Writer
	part []byte // the first bytes of an incomplete character
}

func (c *caretWriter) Write(p []byte) (int, error) {
	in := append(c.part, p...)
	out := make([]byte, 0, len(in)+16)
	for len(in) > 0 {
		if in[0] >= utf8.RuneSelf && !utf8.FullRune(in) {
			break
		}
		r, w := utf8.DecodeRune(in)
		switch {
		case r == '\n':
			out = append(out, '\n')
		case r < ' ':
			out = append(out, '^', byte(r)+'@')
		case r == 0x7f:
			out = append(out, "^?"...)
		case r == utf8.RuneError && w == 1, unicode.In(r, unicode.Cc, unicode.Cf):
			out = utf8.AppendRune(out, utf8.RuneError)
		default:
			out = append(out, in[:w]...)
		}
		in = in[w:]
	}
	c.part = append(c.part[:0], in...)
	if _, err := c.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
