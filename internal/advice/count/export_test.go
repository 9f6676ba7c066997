package count

// reset forgets all that was counted.
func reset() { c = counter{} }
