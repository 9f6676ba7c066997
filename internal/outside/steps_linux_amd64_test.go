package outside

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/unwind"
)

// stepper runs a program instruction by instruction, and tracks callers by its calls and returns.
type stepper struct {
	t       *testing.T
	pid     int
	text    text
	regs    unix.PtraceRegs
	callers []uint64 // return addresses, the outermost first, as far as the calls were seen
	results stepped
}

// stepped counts instructions whose caller is known from the calls.
type stepped struct {
	all     int // instructions
	known   int // for which the walk finds the caller
	wrong   int // for which the walk finds another one
	pointer int // for which the kernel's chain alone has another one
}

func (s *stepper) read(addr uint64, n int) []byte {
	b := make([]byte, n)
	got, _ := unix.ProcessVMReadv(s.pid, []unix.Iovec{{Base: &b[0], Len: uint64(n)}}, []unix.RemoteIovec{{Base: uintptr(addr), Len: n}}, 0)
	return b[:max(got, 0)]
}

// chain follows frame pointers as the kernel does.
func (s *stepper) chain() []uint64 {
	list := []uint64{s.regs.Rip}
	for fp := s.regs.Rbp; len(list) < 127; {
		b := s.read(fp, 16)
		if len(b) < 16 {
			break
		}
		fp = binary.LittleEndian.Uint64(b)
		if ret := binary.LittleEndian.Uint64(b[8:]); ret != 0 {
			list = append(list, ret)
		}
	}
	return list
}

// step executes one instruction, and processes calls and returns.
func (s *stepper) step() bool {
	in, err := x86asm.Decode(s.read(s.regs.Rip, 15), 64)
	next := s.regs.Rip + uint64(in.Len)
	var status unix.WaitStatus
	if err := unix.PtraceSingleStep(s.pid); err != nil {
		s.t.Fatal("stepping: ", err)
	}
	if _, err := unix.Wait4(s.pid, &status, unix.WALL, nil); err != nil || !status.Stopped() {
		return false
	}
	if err := unix.PtraceGetRegs(s.pid, &s.regs); err != nil {
		s.t.Fatal("reading registers: ", err)
	}
	switch {
	case err != nil:
	case in.Op == x86asm.CALL && s.regs.Rip != next:
		if _, _, _, known := s.text.at(s.regs.Rip); known {
			s.callers = append(s.callers, next)
		} else {
			s.clock(next)
		}
	case in.Op == x86asm.JMP && s.function(next-1) == "runtime.gogo": // to another goroutine
		s.callers = s.callers[:0]
	case in.Op == x86asm.RET:
		if n := len(s.callers); n > 0 && s.callers[n-1] == s.regs.Rip {
			s.callers = s.callers[:n-1]
		} else { // another goroutine's stack
			s.callers = s.callers[:0]
		}
	}
	return true
}

// clock performs a call of the vdso's clock_gettime that was stepped into. Single-stepped, that
// function would retry for ever, because it reads the clock until it was fast enough; and a
// breakpoint after the call would kill threads that are not traced and call it there too, such as
// Go's sysmon.
func (s *stepper) clock(next uint64) {
	var at unix.Timespec
	if err := unix.ClockGettime(int32(s.regs.Rdi), &at); err != nil || s.regs.Rdi > unix.CLOCK_TAI {
		s.t.Fatalf("the vdso was called at %s for something else than a clock", s.name(next-1))
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(at.Sec))
	b = binary.LittleEndian.AppendUint64(b, uint64(at.Nsec))
	if _, err := unix.PtracePokeData(s.pid, uintptr(s.regs.Rsi), b); err != nil {
		s.t.Fatal("writing the time: ", err)
	}
	s.regs.Rax, s.regs.Rip, s.regs.Rsp = 0, next, s.regs.Rsp+8
	if err := unix.PtraceSetRegs(s.pid, &s.regs); err != nil {
		s.t.Fatal("writing registers: ", err)
	}
}

// judge compares the walk with the real callers.
func (s *stepper) judge() {
	chain := s.chain()
	got := unwind.Walk(nil, &unwind.Stack{PCs: chain, Cut: len(chain) >= 127, Words: s.read(s.regs.Rsp, stackWords)}, s.text, &s.text.cache)
	n := len(s.callers)
	if _, _, _, ok := s.text.at(s.regs.Rip); n == 0 || !ok { // the kernel's vdso is in no file
		return
	}
	s.results.all++
	if len(chain) < 2 || chain[1] != s.callers[n-1] {
		s.results.pointer++
	}
	if slices.Contains(got, s.callers[n-1]-1) {
		s.results.known++
	}
	if wrong := s.wrong(got[1:]); wrong != "" {
		if s.results.wrong++; s.results.wrong < 4 {
			s.t.Errorf("at %s: %s\nwalk  %s\nchain %s\ncalls %s", s.name(s.regs.Rip), wrong, s.names(got), s.names(chain), s.names(s.called()))
		}
	}
}

// called returns addresses in the calls of the callers, the innermost first.
func (s *stepper) called() (list []uint64) {
	for _, ret := range slices.Backward(s.callers) {
		list = append(list, ret-1)
	}
	return list
}

// wrong returns which caller of the walk is not a real one, or "" if all are.
func (s *stepper) wrong(walk []uint64) string { return s.differs(walk, s.called(), false) }

// differs is wrong for the rest of a walk. After a gap it need not continue with the first of the
// real callers: in a function that calls itself one address may be several of them.
func (s *stepper) differs(walk, left []uint64, gap bool) string {
	switch {
	case len(walk) == 0 || len(left) == 0:
		return ""
	case walk[0] == unwind.UnknownCaller || walk[0] == unwind.Truncated:
		return s.differs(walk[1:], left, true)
	}
	if !slices.Contains(left, walk[0]) && (gap || s.jumps(walk[0])) { // it may be beyond the known ones
		return s.differs(walk[1:], left, gap)
	}
	for i := range left {
		if left[i] == walk[0] && s.differs(walk[1:], left[i+1:], false) == "" {
			return ""
		}
		if !gap {
			break
		}
	}
	return s.name(walk[0]) + " did not call"
}

// jumps reports whether a jump is at an address.
func (s *stepper) jumps(pc uint64) bool {
	in, err := x86asm.Decode(s.read(pc, 15), 64)
	return err == nil && in.Op != x86asm.CALL && (in.Op == x86asm.JMP || in.Op.String()[0] == 'J') || s.read(pc-1, 1)[0] == 0x0f
}

func (s *stepper) names(list []uint64) (text string) {
	for _, pc := range list {
		text += "\n  " + s.name(pc)
	}
	return text
}

func (s *stepper) name(pc uint64) string {
	if pc == unwind.UnknownCaller {
		return "<unknown caller>"
	}
	return fmt.Sprintf("%#x %s %+v", pc, s.function(pc), s.text.Rule(pc))
}

func (s *stepper) function(pc uint64) string {
	f := s.text.objects.frames(s.text.objects.place(s.text.space, pc))
	return f[len(f)-1].Function
}

// steps runs a program up to where it stops itself, and judges most instructions from there.
func steps(t *testing.T, most int, command ...string) stepped {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("knows the instructions of amd64 alone")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	cmd.SysProcAttr = &unix.SysProcAttr{Ptrace: true, Pdeathsig: unix.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Skip("a program can't be traced here: ", err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	s := &stepper{t: t, pid: cmd.Process.Pid}
	var status unix.WaitStatus
	for status.StopSignal() != unix.SIGSTOP {
		if _, err := unix.Wait4(s.pid, &status, 0, nil); err != nil || !status.Stopped() {
			t.Fatalf("%q did not stop: %v %v", command, err, status)
		}
		if status.StopSignal() == unix.SIGSTOP {
			break
		}
		signal := int(status.StopSignal())
		if status.StopSignal() == unix.SIGTRAP { // it was started
			signal = 0
		}
		if err := unix.PtraceCont(s.pid, signal); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.PtraceGetRegs(s.pid, &s.regs); err != nil {
		t.Fatal(err)
	}
	r := &recorder{pid: s.pid, epoch: time.Now().UnixNano(), objects: newObjects(func(string, string) {}, func(format.Object) {})}
	s.text = text{r.mapped(), &r.objects}
	for n := 0; n < 4*most && s.results.all < most; n++ {
		if !s.step() {
			t.Errorf("it ended after %d instructions", n)
			break
		}
		s.judge()
	}
	t.Logf("%s: %+v", filepath.Base(command[0]), s.results)
	return s.results
}

// built builds a program of testdata.
func built(t *testing.T, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(args[0]); err != nil {
		t.Skip("needs ", args[0])
	}
	to := filepath.Join(t.TempDir(), name)
	cmd := exec.Command(args[0], append(args[1:len(args)-1:len(args)-1], "-o", to, args[len(args)-1])...)
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return to
}

// TestNoFalseCaller: at each instruction of a program the walk finds the caller, or an unknown
// caller, and never another one.
func TestNoFalseCaller(t *testing.T) {
	noFalseCaller(t, 4000, map[string]way{
		"go": {95, []string{"go", "build", "./testdata/steps"}},
		"c":  {85, []string{"cc", "-O2", "testdata/steps.c"}},
	})
}

// TestTruthNoFalseCaller is the same for more instructions, and for C compiled in many ways.
func TestTruthNoFalseCaller(t *testing.T) {
	if os.Getenv("SCOPEVIEW_TRUTH") == "" {
		t.Skip("takes a minute: SCOPEVIEW_TRUTH=1 runs it")
	}
	noFalseCaller(t, 60_000, map[string]way{
		"go":                  {95, []string{"go", "build", "./testdata/steps"}},
		"go-not-optimized":    {95, []string{"go", "build", "-gcflags=all=-N -l", "./testdata/steps"}},
		"go-pie":              {95, []string{"go", "build", "-buildmode=pie", "-ldflags=-s -w", "./testdata/steps"}},
		"cgo":                 {70, []string{"go", "build", "./testdata/stepscgo"}},
		"gcc":                 {85, []string{"gcc", "-O2", "testdata/steps.c"}},
		"gcc-frame-pointer":   {85, []string{"gcc", "-O2", "-fno-omit-frame-pointer", "testdata/steps.c"}},
		"gcc-not-optimized":   {85, []string{"gcc", "-O0", "testdata/steps.c"}},
		"gcc-no-unwinding":    {20, []string{"gcc", "-O2", "-fno-asynchronous-unwind-tables", "testdata/steps.c"}},
		"gcc-stripped":        {85, []string{"gcc", "-O3", "-s", "testdata/steps.c"}},
		"clang":               {85, []string{"clang", "-O2", "testdata/steps.c"}},
		"clang-frame-pointer": {85, []string{"clang", "-O2", "-fno-omit-frame-pointer", "testdata/steps.c"}},
	})
}

// way is a command that builds a program, and the least percentage of its instructions whose caller
// is known.
type way struct {
	known int
	build []string
}

func noFalseCaller(t *testing.T, most int, ways map[string]way) {
	for name, c := range ways {
		t.Run(name, func(t *testing.T) {
			got := steps(t, most, built(t, name, c.build...))
			if got.all < most || got.known*100 < got.all*c.known || got.wrong > 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}
