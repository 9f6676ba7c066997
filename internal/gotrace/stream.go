package gotrace

import "github.com/scopeview/scopeview/internal/trace"

// HeaderSize is how many bytes of a Go execution trace CheckHeader looks at.
const HeaderSize = headerSize

// CheckHeader tells whether what begins with head is a Go execution trace that Read
// could read. Its errors are sentences about it.
func CheckHeader(head []byte) error { return checkVersion(head) }

// ReadStream is Read for one of t's Go execution traces, as if it were the only one.
// What Info tells is of it alone: where it is another process's, and where it is of
// another time than t, nothing was delivered. Its error is ErrNone where it is not there.
func ReadStream(t *trace.Trace, stream uint32, h Handler) (*Info, error) {
	for _, g := range t.GoTraces() {
		if g.Stream == stream {
			return read(t, []trace.GoTrace{g}, h)
		}
	}
	return nil, ErrNone
}
