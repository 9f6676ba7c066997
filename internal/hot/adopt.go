package hot

// Adopted is what Adopt did.
type Adopted struct {
	Traces  int // that are whole by now
	Chunks  int // written to them
	Removed int // hot files that are not needed any more, those of the traces included
	Left    int // hot files that were left alone: their writers live, or there was an error
}
