package heartbeat

import (
	"errors"
	"fmt"
	"os"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
)

// processReader reads /proc/self, the threads and the cgroup's limits.
type processReader struct {
	proc    procfs.Proc
	root    string // of procfs
	status  string // the path of what readStatus reads
	err     error  // why proc can't be used; nil once it was found
	affin   unix.CPUSetDynamic
	threads threadReader
	machine machineReader
	limits  limitReader
}

func (r *processReader) init() { r.initAt(procfs.DefaultMountPoint) }

func (r *processReader) initAt(root string) {
	r.root, r.machine.path = root, root+"/stat"
	r.affin = unix.NewCPUSet(1 << 10)
	fs, err := procfs.NewFS(root)
	if err == nil {
		r.proc, err = fs.Self()
	}
	if err != nil {
		r.err = fmt.Errorf("%s can't be read: %w", root, err)
		return
	}
	r.status = fmt.Sprintf("%s/%d/status", root, r.proc.PID)
	r.threads.init(fmt.Sprintf("%s/%d/task", root, r.proc.PID))
	r.limits.init(r.proc)
}

func (r *processReader) read(b *beat) {
	readUsage(b)
	r.readCPUs(b)
	r.machine.read(b)
	if r.err != nil {
		b.fail("memory, threads and limits", r.err)
		return
	}
	r.readStatus(b)
	r.threads.read(b)
	r.limits.read(b)
}

func (r *processReader) readLimits(b *beat) {
	if r.err != nil {
		b.fail("memory, threads and limits", r.err)
		return
	}
	r.readStatus(b)
	r.limits.read(b)
	if kb := stat(r.root, "meminfo", "MemAvailable:"); kb >= 0 {
		b.available = kb << 10
	}
}

// readStatus reads resident and swapped memory, and how many threads there are. A process
// without any resident memory does not exist: zero means that the kernel does not tell. Not
// by procfs: what it makes of the lines that nobody wants is 10 kB of every program.
func (r *processReader) readStatus(b *beat) {
	text, err := os.ReadFile(r.status)
	rss, swap, threads := number(text, "VmRSS:"), number(text, "VmSwap:"), number(text, "Threads:")
	if err == nil && (rss < 1 || threads < 1) {
		err = fmt.Errorf("%s lacks VmRSS or Threads", r.status)
	}
	if err != nil {
		b.fail("memory, or number of threads", err)
	}
	if rss > 0 {
		b.put(format.FieldRSS, rss<<10)
		b.put(format.FieldSwap, max(swap, 0)<<10)
	}
	if threads > 0 {
		b.put(format.FieldThreads, threads)
	}
	b.own.Has = max(number(text, "VmData:"), 0) << 10
	b.own.Addresses = ownLeft(unix.RLIMIT_AS, number(text, "VmSize:")<<10)
	b.own.Data = ownLeft(unix.RLIMIT_DATA, b.own.Has)
}

// ownLeft is what one of the process's limits leaves of which it has some already; where that is
// unknown, as without /proc, half of the limit.
func ownLeft(limit int, has int64) int64 {
	var l unix.Rlimit
	if unix.Getrlimit(limit, &l) != nil || l.Cur > 1<<62 {
		return noLimit
	}
	if has <= 0 {
		return int64(l.Cur / 2)
	}
	return max(int64(l.Cur)-has, 0)
}

// readCPUs counts the CPUs that the main thread may run on: the process's, as
// long as the program does not pin single threads. The kernel refuses a mask
// that is shorter than its own, whose length it does not tell.
func (r *processReader) readCPUs(b *beat) {
	err := unix.SchedGetaffinityDynamic(os.Getpid(), r.affin)
	for errors.Is(err, unix.EINVAL) && len(r.affin) < 1<<12 {
		r.affin = make(unix.CPUSetDynamic, 2*len(r.affin))
		err = unix.SchedGetaffinityDynamic(os.Getpid(), r.affin)
	}
	if err != nil {
		b.fail("CPUs", err)
		return
	}
	b.put(format.FieldCPUs, int64(r.affin.Count()))
}
