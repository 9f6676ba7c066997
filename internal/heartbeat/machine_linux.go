package heartbeat

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
)

// machineReader reads the CPU time of all CPUs of the machine, from the first line of
// /proc/stat. The kernel generates the whole file for it, with a line for each interrupt
// and CPU, so its cost limits how often it is read, as with threads.
type machineReader struct {
	path string
	next time.Time
	cost time.Duration
	buf  [256]byte
}

// userTick is the unit of /proc/stat: a hundredth of a second for programs, whatever the
// kernel's own tick is.
const userTick = 10_000_000

func (r *machineReader) read(b *beat) {
	now := time.Now()
	if now.Before(r.next) {
		return
	}
	c := startCost()
	busy, steal, err := r.sum()
	if err != nil {
		b.fail("the CPU time of other programs", err)
	} else {
		b.put(format.FieldMachineBusy, busy)
		b.put(format.FieldSteal, steal)
	}
	if d, ok := c.stop(); ok {
		r.cost = d
	}
	r.next = now.Add(threadShare * r.cost)
}

func (r *machineReader) sum() (busy, steal int64, err error) {
	fd, err := unix.Open(r.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", r.path, err)
	}
	n, err := unix.Read(fd, r.buf[:])
	unix.Close(fd)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", r.path, err)
	}
	line, _, _ := strings.Cut(string(r.buf[:n]), "\n")
	words := strings.Fields(line)
	if len(words) < 9 || words[0] != "cpu" {
		return 0, 0, fmt.Errorf("%s: %q is not the CPU line of /proc/stat", r.path, line)
	}
	for i, w := range words[1:9] { // user nice system idle iowait irq softirq steal; guests are in user
		v, err := strconv.ParseInt(w, 10, 64)
		if err != nil || v < 0 || v > 1<<62/userTick {
			return 0, 0, fmt.Errorf("%s: %q is not the CPU line of /proc/stat", r.path, line)
		}
		switch i {
		case 3, 4:
		case 7:
			steal = v * userTick
		default:
			busy += v * userTick
		}
	}
	return busy, steal, nil
}
