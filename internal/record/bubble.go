//go:build !scope_off

package record

import (
	"runtime"
	"strings"
)

// inBubble reports whether the caller is in a bubble of testing/synctest. What is made
// there belongs to the bubble: another goroutine that sends on one of our channels
// would be a fatal error, our tickers would follow the bubble's clock, and the bubble
// would never end, since our goroutines don't. Its time is none either: it begins in
// the year 2000. There is no function that tells; the head of a stack does.
//
// What is recorded in a bubble makes nothing, so it needs not ask.
func inBubble() bool { return strings.Contains(goroutineHead(), "synctest bubble") }

// goroutineHead is what the runtime writes above the caller's stack.
func goroutineHead() string {
	var buf [128]byte
	head, _, _ := strings.Cut(string(buf[:runtime.Stack(buf[:], false)]), "\n")
	return head
}
