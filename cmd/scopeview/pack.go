package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/pack"
	"github.com/scopeview/scopeview/internal/show"
)

// packedExtension is that of packed traces.
const packedExtension = ".scopez"

func newPack(c *call) func() error {
	to := c.flags().StringP("output", "o", "", "write to `FILE`, which appears when it is complete (default: beside the trace, as *.scopez)")
	return func() error {
		src, beside, err := sourceOf(c.context(), c.s, c.args[0])
		if err != nil {
			return err
		}
		defer src.remove()
		out, err := outputPath(src.path, beside, *to, extension, packedExtension)
		if err != nil {
			return err
		}
		f, length, done, err := stillTrace(c.context(), src.path, out)
		if err != nil {
			return err
		}
		defer done()
		var res pack.Result
		p := c.s.bytesDone()
		err = out.write(c.s, func(w io.Writer) error {
			file, ok := w.(*os.File)
			if !ok {
				return fmt.Errorf("a packed trace is written to a file")
			}
			res, err = pack.Write(c.context(), file, pack.Source{R: f, Size: length, Missing: f.MissingSegments()}, p.share)
			if err == nil {
				err = file.Sync()
			}
			return err
		})
		p.done()
		if err != nil {
			return err
		}
		if res.Plain > 0 {
			fmt.Fprintf(c.s.err, "scopeview: %s of %s are packed less well than possible, by a defect of scopeview; please report it\n", show.Plural(res.Plain, "group"), show.Name(src.path))
		}
		each := ""
		if res.Scopes > 0 {
			each = fmt.Sprintf(", %.2f bytes a scope", float64(res.Packed)/float64(res.Scopes))
		}
		_, err = fmt.Fprintf(c.s.out, "%s: %s of %s, %s%s\n", show.Name(out.path), show.Size(res.Packed), show.Size(res.Size), show.Percent(float64(res.Packed)/float64(res.Size)), each)
		return err
	}
}

func newUnpack(c *call) func() error {
	to := c.flags().StringP("output", "o", "", "write to `FILE`, which appears when it is complete; -: standard output (default: beside TRACE, as *.scope)")
	return func() error {
		src, beside, err := sourceOf(c.context(), c.s, c.args[0])
		if err != nil {
			return err
		}
		defer src.remove()
		f, length, err := openFile(c.context(), src.path)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, packed := f.Packed(); !packed {
			return fmt.Errorf("%s is not packed", show.Name(src.path))
		}
		out, err := outputPath(src.path, beside, *to, packedExtension, extension)
		if err != nil {
			return err
		}
		if out.standard() && c.s.outTerm {
			return usagef("a trace is nothing for a terminal: give -o FILE")
		}
		p := c.s.bytesDone()
		err = out.write(c.s, func(w io.Writer) error {
			file, ok := w.(*os.File)
			if !ok || out.standard() {
				return pack.Copy(c.context(), struct{ io.Writer }{w}, f, length, f.NextData, p.share)
			}
			if err := pack.Copy(c.context(), file, f, length, f.NextData, p.share); err != nil {
				return err
			}
			return file.Sync()
		})
		p.done()
		if err != nil {
			return err
		}
		if lost, _ := f.Packed(); lost > 0 {
			return fmt.Errorf("%s: %s can't be unpacked: the file is cut off or damaged there; %s has the others", show.Name(src.path), show.Plural(lost, "chunk"), show.Name(out.path))
		}
		if out.standard() {
			return nil
		}
		_, err = fmt.Fprintf(c.s.out, "%s: %s\n", show.Name(out.path), show.Size(length))
		return err
	}
}

// isPacked reports whether the file at path is a packed trace.
func isPacked(path string) bool {
	f, err := hot.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, packed := f.Packed()
	return packed
}

// outputPath returns the output for a file derived from the trace at path: to, if set, or else a new
// file in the directory beside, with the trace's ending replaced.
func outputPath(path, beside, to, ending, newEnding string) (*output, error) {
	out := &output{to}
	if to != "" {
		if to == "-" && newEnding == packedExtension {
			return nil, usagef("-o -: a packed trace is a file of its own; give its name")
		}
		return out, out.notOver(path)
	}
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ending), newEnding)
	out.path = filepath.Join(beside, name+newEnding)
	if err := out.notOver(path); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(out.path); err == nil {
		return nil, fmt.Errorf("%s exists; give another name with -o, or remove the file", show.Name(out.path))
	}
	return out, nil
}

// bytesDone returns a progress that measures shares of a known total.
func (s *streams) bytesDone() *progress {
	return &progress{s: s, next: time.Now().Add(progressAfter)}
}

// share shows the part done.
func (p *progress) share(done, of int64) {
	if p.s.errTerm {
		p.end = of
		p.at(done)
	}
}
