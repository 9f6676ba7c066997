package rows

import (
	"fmt"
	"io"
)

// bufferSize is how much is written at once; roomForOne is more than one event has
// in all but made-up traces.
const (
	bufferSize = 64 << 10
	roomForOne = 8 << 10
)

// Output is where a Sink's text goes: Sinks append to B.
type Output struct {
	B     []byte
	Bytes int64 // written so far

	w      io.Writer
	format string
	err    error
}

// NewOutput returns the Output to w. Errors call what is written by its format.
func NewOutput(w io.Writer, format string) Output {
	return Output{B: make([]byte, 0, bufferSize+roomForOne), w: w, format: format}
}

// Spill writes what has been appended, if that is much.
func (o *Output) Spill() {
	if len(o.B) >= bufferSize && o.err == nil {
		o.Flush()
	}
}

// Flush writes what has been appended.
func (o *Output) Flush() {
	n, err := o.w.Write(o.B)
	o.Bytes += int64(n)
	if o.err == nil {
		o.err = err
	}
	o.B = o.B[:0]
}

// Full is a Sink's: it returns the first error of writing.
func (o *Output) Full() error {
	if o.err != nil {
		return fmt.Errorf("writing %s: %w", o.format, o.err)
	}
	return nil
}
