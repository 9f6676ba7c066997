package hot

// Adopted is the result of Adopt.
type Adopted struct {
	Traces  int // completed traces
	Chunks  int // number of chunks written to them
	Removed int // removed hot files, including those of the traces
	Left    int // hot files left alone: their writers are alive, or there was an error
}
