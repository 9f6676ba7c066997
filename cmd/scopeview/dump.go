package main

import (
	"bufio"
	"fmt"
	"io"

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
