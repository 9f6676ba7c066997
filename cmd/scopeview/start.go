package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
)

// openAny opens what the only argument of scopeview names: a profile as a table, all else in the
// browser. Without arguments it prints what a newcomer does first.
func openAny(cmd *cobra.Command, s *streams, args []string) error {
	if len(args) == 0 {
		h := helpOf("scopeview")
		_, err := fmt.Fprintf(s.out, "%s\n\n%s\n\nscopeview help lists all commands.\n", h.short, h.examples)
		return err
	}
	if err := noCommand(cmd, args[0]); err != nil {
		return err
	}
	if len(args) > 1 {
		return usagef("one file is opened, not %d: %q", len(args), args)
	}
	var in io.ReadCloser
	var kind *sourceKind
	if args[0] != standardInput {
		var err error
		if in, kind, err = sniff(args[0]); err != nil {
			return err
		}
	} else if !s.inTerm {
		in, kind = s.sniffInput(cmd.Context())
	}
	words := []string{"serve", args[0], "--open"}
	if in != nil {
		if kind.convert == nil && !holdsTrace(in) {
			words = []string{"profile", args[0]}
		}
		in.Close()
	}
	if s.errTerm {
		fmt.Fprintf(s.err, "scopeview: %s\n", show.Name(strings.Join(words, " ")))
	}
	if code := execute(cmd.Context(), s, words); code != exitOK {
		return &exit{code: code}
	}
	return nil
}

// sniffInput determines the kind of what comes from standard input, as sniff does, and leaves it
// there. It returns its first bytes.
func (s *streams) sniffInput(ctx context.Context) (io.ReadCloser, *sourceKind) {
	from := s.in
	b := bufio.NewReaderSize(interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(from), nil }), 64<<10)
	s.in = b
	head, _ := b.Peek(4096) // enough of a compressed trace to see what it is
	kind := kindOf(head)
	if kind == nil {
		return nil, nil
	}
	return io.NopCloser(bytes.NewReader(head)), kind
}

// noCommand returns an error if arg is neither a command nor a file, a process or an address.
func noCommand(root *cobra.Command, arg string) error {
	if _, err := os.Stat(arg); !errors.Is(err, fs.ErrNotExist) || isAddress(arg) || allDigits(arg) || arg == standardInput {
		return nil
	}
	text := fmt.Sprintf("there is neither a command nor a file %q", arg)
	if like := root.SuggestionsFor(arg); len(like) > 0 {
		text += "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return usagef("%s", text)
}

// holdsTrace reports whether in is a trace that is compressed by gzip.
func holdsTrace(in io.Reader) bool {
	z, err := gzip.NewReader(in)
	if err != nil {
		return false
	}
	head := make([]byte, format.StateOffset)
	n, _ := io.ReadFull(z, head)
	return isTrace(head[:n])
}
