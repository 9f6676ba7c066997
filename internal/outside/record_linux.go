package outside

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/sys"
)

// Record runs a program and records it until it ends. When the context is done, Record signals
// the program to end. The error is one of starting the program, of watching it, or of writing the
// trace.
func Record(ctx context.Context, o Options) (*Result, error) {
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.In, o.Out, o.Err
	cmd.SysProcAttr = &unix.SysProcAttr{Ptrace: true}
	runtime.LockOSThread() // only the thread that started it can detach from it
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", o.Command[0], err)
	}
	pid := cmd.Process.Pid
	give := func(err error) (*Result, error) {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil || !status.Stopped() {
		return give(fmt.Errorf("starting %s: it could not be stopped before it began: %w", o.Command[0], err))
	}
	r, err := newRecorder(pid, o)
	if err != nil {
		return give(err)
	}
	if err := unix.PtraceDetach(pid); err != nil {
		r.discard()
		return give(fmt.Errorf("starting %s: resuming it: %w", o.Command[0], err))
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	r.run(ctx, cmd.Process, done)
	res := &Result{Exit: cmd.ProcessState.ExitCode(), Samples: r.samples, Lost: r.lost, CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	res.Unsampled = r.last(res.CPU)
	ended := "exit " + strconv.Itoa(res.Exit)
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		res.Signal = ws.Signal().String()
		ended = "signal " + res.Signal
	}
	r.w.block(format.BlockInfo, format.AppendInfo(nil, "ended", ended), 0)
	return res, r.finish()
}

// recorder watches a program.
type recorder struct {
	pid      int
	w        *writer
	onFull   func(error) // called with the reason when nothing more is kept
	began    int64
	counters []*perf.Watched // the first has no name: it has the events other than samples
	reported map[string]string
	spaces   map[uint32]*space
	threads  map[uint32]format.Program // as recorded last
	objects  objects
	epoch    int64 // ns since 1970 of the monotonic clock's 0
	names    *perf.Namer
	series   map[series]*format.Samples
	switches map[uint32]*format.Switches
	gap      int64            // switches were lost up to here
	until    map[series]int64 // samples were written up to here
	waiting  []taken          // by time
	ended    bool             // the program has ended: nothing more comes
	full     error            // the reason why nothing more is kept
	samples  int64
	lost     int64 // of samples
	lostRest int64 // of other records
	raw      []byte
	pcs      []uint64
}

// series identifies the samples of a block.
type series struct {
	thread  uint32 // 0: unknown
	counter *perf.Watched
}

func newRecorder(pid int, o Options) (*recorder, error) {
	now := sys.Monotonic()
	r := &recorder{
		pid: pid, onFull: o.Full, began: now, reported: map[string]string{}, spaces: map[uint32]*space{}, threads: map[uint32]format.Program{}, epoch: time.Now().UnixNano() - now,
		series: map[series]*format.Samples{}, until: map[series]int64{}, switches: map[uint32]*format.Switches{},
	}
	r.setUp()
	if err := r.open(o); err != nil {
		r.close()
		return nil, err
	}
	var err error
	if r.w, err = newWriter(o.Path, pid, now); err != nil {
		r.close()
		return nil, err
	}
	if err := r.w.room(); err != nil {
		r.discard()
		return nil, err
	}
	r.spaces[uint32(pid)] = r.mapped()
	r.facts(o)
	return r, nil
}

// setUp initializes the naming of code.
func (r *recorder) setUp() {
	r.objects = newObjects(r.fact, func(x format.Object) { r.w.block(format.BlockObject, format.AppendObject(nil, &x), 0) })
	r.names = perf.NewNamer(format.StackIDs, func(t format.BlockType, p []byte) bool {
		r.w.block(t, p, 0)
		return true
	})
}

// facts records what the trace is of.
func (r *recorder) facts(o Options) {
	host, _ := os.Hostname()
	dir, _ := os.Getwd()
	switches := "on"
	if o.NoSwitches {
		switches = "off (--switches=false)"
	}
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", r.pid))
	for _, f := range [][2]string{
		{"program", exe}, {"args", strings.Join(o.Command, " ")}, {"os", runtime.GOOS}, {"arch", runtime.GOARCH}, {"host", host}, {"dir", dir},
		{"kernel", sys.Kernel()}, {"recorded", "from outside (scopeview record)"}, {"thread_switches", switches},
	} {
		r.fact(f[0], f[1])
	}
	for _, m := range r.spaces[uint32(r.pid)].list {
		if m.file == exe {
			if b := r.objects.open(m.code); b.goBin != nil {
				r.fact("build_id", b.goBin.BuildID)
			}
		}
	}
	for _, w := range r.counters[1:] {
		r.fact(w.Fact())
	}
}

// fact records a fact, if it is new.
func (r *recorder) fact(key, value string) {
	if value != "" && r.reported[key] != value {
		r.reported[key] = value
		r.w.block(format.BlockInfo, format.AppendInfo(nil, key, value), r.began)
	}
}

// mapped reads the mappings of the program before it runs.
func (r *recorder) mapped() *space {
	s := &space{}
	s.program, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", r.pid))
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", r.pid))
	for line := range strings.Lines(string(b)) {
		c := &code{time: r.began + r.epoch}
		var perm, dev string
		n, _ := fmt.Sscanf(line, "%x-%x %s %x %s %d", &c.from, &c.to, &perm, &c.offset, &dev, &c.inode)
		if w := strings.Fields(line); n == 6 && strings.Contains(perm, "x") && len(w) > 5 {
			c.file = strings.Join(w[5:], " ")
			s.put(c)
		}
	}
	return s
}

const (
	look      = 50 * time.Millisecond // between two reads of the rings
	flushLook = 20                    // reads between two writes
	settle    = 5 * time.Millisecond  // after this time an event is in a ring
	lastWords = 5 * time.Second       // for a program to end after the signal
)

// run reads the rings until the program has ended.
func (r *recorder) run(ctx context.Context, p *os.Process, done chan error) {
	t := time.NewTicker(look)
	defer t.Stop()
	var asked <-chan time.Time
	stop := ctx.Done()
	for n := 1; ; n++ {
		select {
		case <-done:
			time.Sleep(settle)
			r.ended = true
			r.read()
			return
		case <-stop: // it had the signal of the terminal too
			stop, asked = nil, time.After(lastWords)
		case <-asked:
			_ = p.Signal(unix.SIGTERM)
		case <-t.C:
			r.look(n%flushLook == 0)
		}
	}
}

// look reads the rings, as long as there is room. After that the rings get full, so that the
// kernel counts the lost records.
func (r *recorder) look(flush bool) {
	if r.full != nil {
		return
	}
	r.read()
	if flush {
		r.flush(sys.Monotonic() - int64(settle))
	}
	if r.full = cmp.Or(r.w.failed(), r.w.room()); r.full != nil {
		r.onFull(r.full)
	}
}

// last processes the losses that the kernel has not reported, and the CPU time of the program
// that was not counted.
func (r *recorder) last(cpu time.Duration) (unsampled time.Duration) {
	for _, w := range r.counters {
		r.lose(w, w.LostLast())
		if r.full != nil {
			w.Missing = r.full.Error()
		}
		unsampled = max(unsampled, w.Unsampled(cpu))
	}
	for _, w := range r.counters[1:] {
		r.fact(w.Fact())
	}
	if r.lostRest > 0 {
		r.fact("thread_switches_lost", strconv.FormatInt(r.lostRest, 10))
	}
	return unsampled
}

// discard releases everything, and removes the trace.
func (r *recorder) discard() {
	r.close()
	r.w.file.Close()
	_ = os.Remove(r.w.file.Name())
}

func (r *recorder) close() {
	for _, w := range r.counters {
		w.Close()
	}
}

// finish writes the rest.
func (r *recorder) finish() error {
	r.close()
	now := sys.Monotonic()
	r.flush(now)
	return r.w.close(now)
}
