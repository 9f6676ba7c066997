//go:build scope_pure || !(amd64 || (arm64 && linux))

package sys

func tsc() int64             { return 0 }
func getg() uintptr          { return 0 }
func counterInvariant() bool { return false }

const haveStubs = false
