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
	root    string // where procfs is mounted
	proc    procfs.Proc
	err     error // why proc can't be used; nil once it was found
	affin   unix.CPUSetDynamic
	threads threadReader
	machine machineReader
	limits  limitReader
}

func (r *processReader) init() { r.initAt(procfs.DefaultMountPoint) }

func (r *processReader) initAt(root string) {
	r.root = root
	r.machine.path = root + "/stat"
	r.affin = unix.NewCPUSet(1 << 10)
	fs, err := procfs.NewFS(root)
	if err == nil {
		r.proc, err = fs.Self()
	}
	if err != nil {
		r.err = fmt.Errorf("%s can't be read: %w", root, err)
		return
	}
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
	r.readMemory(b)
	r.readThreadCount(b)
	r.threads.read(b)
	r.limits.read(b)
}

// readMemory reads resident and swapped memory. A process without any resident
// memory does not exist: zero means that the kernel does not tell.
func (r *processReader) readMemory(b *beat) {
	st, err := r.proc.NewStatus()
	if err == nil && st.VmRSS == 0 {
		err = fmt.Errorf("%s/self/status has no VmRSS", r.root)
	}
	if err != nil {
		b.fail("memory", err)
		return
	}
	b.put(format.FieldRSS, clampInt64(st.VmRSS))
	b.put(format.FieldSwap, clampInt64(st.VmSwap))
}

func (r *processReader) readThreadCount(b *beat) {
	st, err := r.proc.Stat()
	if err == nil && st.NumThreads < 1 {
		err = fmt.Errorf("%s/self/stat says %d threads", r.root, st.NumThreads)
	}
	if err != nil {
		b.fail("number of threads", err)
		return
	}
	b.put(format.FieldThreads, int64(st.NumThreads))
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
