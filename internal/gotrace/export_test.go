package gotrace

// SetChecked sets how many events are kept in mind when a stream is checked, until the
// function that it returns is called.
func SetChecked(first, again int64) (reset func()) {
	f, a := checkEvents, checkAgain
	checkEvents, checkAgain = first, again
	return func() { checkEvents, checkAgain = f, a }
}
