package tracetest

// Memory is a file in memory, for writers.
type Memory []byte

// WriteAt implements io.WriterAt.
func (m *Memory) WriteAt(b []byte, off int64) (int, error) {
	if n := int(off) + len(b) - len(*m); n > 0 {
		*m = append(*m, make([]byte, n)...)
	}
	return copy((*m)[off:], b), nil
}
