// Package faultfs creates file systems that fail: full, frozen, slow, disconnected, on a
// disk that loses power, and limited memory. Only tests import it.
//
// Every helper skips the test, with the reason, if the machine does not support it: most
// need root, and loop devices need mkfs.ext4. The resources exist until the test ends.
// Package victim, below, provides the process that suffers the fault.
//
// The tests in this package are those of the guarantees in docs/guarantees.md that need such
// a file system. A test of guarantee 7 has a name that starts with TestG7, and logs a line
// of numbers that begins with "G7: ". make fault runs them all in full, with Full; make test
// runs the short ones.
package faultfs

import "os"

// Full reports whether the tests of the guarantees run in full, however long that takes, as
// make fault requests.
func Full() bool { return os.Getenv("SCOPEVIEW_FAULT") == "full" }
