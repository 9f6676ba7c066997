package count

// reset discards all counts.
func reset() { c = counter{} }
