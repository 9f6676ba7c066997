// Package faultfs makes file systems that fail: full, frozen, slow, cut off, those
// of a disk whose power fails, and memory that is short. Only tests import it.
//
// Every helper skips the test, with the reason, where the machine can't do it: most
// want root, and loop devices want mkfs.ext4. What is made lasts as long as the test.
// Package victim, below, has the process that the fault is done to.
//
// The tests here are those of the guarantees that docs/guarantees.md lists and that
// need such a file system. A test of guarantee 7 is called TestG7 and whatever
// follows, and logs a line of numbers that begins with "G7: ". make fault runs them
// all in full, with Full; make test runs what is short.
package faultfs

import "os"

// Full reports whether the tests of the guarantees are to do all that they can, however
// long it takes. It is how make fault runs them.
func Full() bool { return os.Getenv("SCOPEVIEW_FAULT") == "full" }
