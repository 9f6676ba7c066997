//go:build !unix

package newfile

import "math"

// There is no such limit on these systems.
var tooLarge error

func largest() uint64 { return math.MaxUint64 }
