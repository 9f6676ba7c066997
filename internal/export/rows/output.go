package rows

import (
	"fmt"
	"io"
)

// bufferSize is the amount written at once; roomForOne is more than the size of any event
// except in artificial traces.
const (
	bufferSize = 64 << 10
	roomForOne = 8 << 10
)

// Output buffers a Sink's output: Sinks append to B.
type Output struct {
	B     []byte
	Bytes int64 // written so far

	w      io.Writer
	format string
	err    error
}

// NewOutput returns an Output to w. Errors name the format.
func NewOutput(w io.Writer, format string) Output {
	return Output{B: make([]byte, 0, bufferSize+roomForOne), w: w, format: format}
}

// Spill writes B if it has reached bufferSize.
func (o *Output) Spill() {
	if len(o.B) >= bufferSize && o.err == nil {
		o.Flush()
	}
}

// Flush writes B.
func (o *Output) Flush() {
	n, err := o.w.Write(o.B)
	o.Bytes += int64(n)
	if o.err == nil {
		o.err = err
	}
	o.B = o.B[:0]
}

// Full implements Sink: it returns the first error of writing.
func (o *Output) Full() error {
	if o.err != nil {
		return fmt.Errorf("writing %s: %w", o.format, o.err)
	}
	return nil
}
