package gotrace

// SetChecked sets how many events a check of a stream reads, until the function it
// returns is called.
func SetChecked(first, again int64) (reset func()) {
	f, a := checkEvents, checkAgain
	checkEvents, checkAgain = first, again
	return func() { checkEvents, checkAgain = f, a }
}
