package sys

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func monotonic() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 1
	}
	return ts.Nano()
}

const clocksource = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

// counterTrusted returns why the kernel does not keep its own time by the counter, or ""
// if it does: tsc on amd64 (kvm-clock and Hyper-V's page scale the same counter),
// arch_sys_counter on arm64. known is false if the kernel's setting could not be read.
func counterTrusted() (why string, known bool) {
	b, err := os.ReadFile(clocksource)
	if err != nil {
		return "the kernel's clock source can't be read: " + err.Error(), false
	}
	switch s := strings.TrimSpace(string(b)); s {
	case "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter":
		return "", true
	default:
		return "the kernel's clock source is " + s, true
	}
}
