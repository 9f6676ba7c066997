//go:build !scope_off

package record

import (
	"runtime"
	"strings"
)

// inBubble reports whether the caller is in a bubble of testing/synctest. Channels and
// goroutines created there belong to the bubble: another goroutine that sends on such
// a channel would be a fatal error, our tickers would follow the bubble's clock, and
// the bubble would never end, because our goroutines don't. Its clock is useless too:
// it begins in the year 2000. No function reports this, but the first line of a stack
// dump does.
//
// Recording in a bubble creates nothing, and need not check.
func inBubble() bool { return strings.Contains(goroutineHead(), "synctest bubble") }

// goroutineHead returns the line that the runtime prints above the caller's stack.
func goroutineHead() string {
	var buf [128]byte
	head, _, _ := strings.Cut(string(buf[:runtime.Stack(buf[:], false)]), "\n")
	return head
}
