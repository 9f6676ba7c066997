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
	status  string // path of the file read by readStatus
	err     error  // why proc can't be used; nil if it can
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

// readStatus reads resident and swapped memory, and the number of threads. A process always has
// some resident memory, so zero means that the kernel does not provide the value. It does not
// use procfs, whose parsing of the other lines would add 10 kB to every program.
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

// ownLeft returns what remains of one of the process's limits after has, the amount in use; if
// that is unknown, as without /proc, half of the limit.
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

// readCPUs counts the CPUs that the main thread may run on. They are the process's, unless the
// program pins single threads. The kernel refuses a mask shorter than its own, and does not
// provide that length.
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
