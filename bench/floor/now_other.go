//go:build !amd64 && !(arm64 && linux)

package floor

import "time"

// Clock names what now reads.
const Clock = "the monotonic clock"

var epoch = time.Now()

func now() int64 { return int64(time.Since(epoch)) }
