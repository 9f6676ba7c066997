package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/scopeview/scopeview/internal/trace/text"
)

func newDump(c *call) func() error {
	return func() error {
		f, size, err := openFile(c.context(), c.args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		name := c.s.nameOf(f.Name())
		if err := c.out.notOver(name); err != nil {
			return err
		}
		return c.out.write(c.s, func(w io.Writer) error {
			b := bufio.NewWriterSize(c.out.exact(c.s, w), 64<<10)
			if err := text.Dump(untilDone{c.context(), b}, f, size); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return b.Flush()
		})
	}
}

func newAssemble(c *call) func() error {
	return func() error {
		if c.out.standard() && c.s.outTerm {
			return usagef("assemble makes a trace, which is nothing for a terminal: give -o FILE")
		}
		in, name := io.Reader(os.Stdin), "standard input"
		if len(c.args) == 1 && c.args[0] != "-" {
			f, err := os.Open(c.args[0])
			if err != nil {
				return fmt.Errorf("opening the text: %w", err)
			}
			defer f.Close()
			in, name = f, c.args[0]
			if c.out.notOver(name) != nil {
				return usagef("-o %s is the text itself; give another name", c.out.path)
			}
		}
		// An invalid text creates no file, not even a temporary one.
		data, err := text.Assemble(in)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(data) == 0 { // such as when the dump command before the pipe failed
			return fmt.Errorf("%s: empty, so no trace is written", name)
		}
		return c.out.write(c.s, func(w io.Writer) error {
			_, err := untilDone{c.context(), w}.Write(data)
			return err
		})
	}
}
