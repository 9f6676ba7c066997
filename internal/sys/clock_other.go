//go:build !linux

package sys

func monotonic() int64 { return 1 }

func counterTrusted() (why string, known bool) {
	return "the system does not report whether its clock is the processor's counter", false
}
