//go:build !scope_off

package record

import (
	"encoding/binary"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// reasons holds the reasons why something slower or less is used; "" if it is not.
type reasons struct {
	path, clock, backing, cpu, fork string
}

// choosePath selects how records are written.
func (r *recorder) choosePath() (w reasons) {
	w.clock = r.clock.Reason
	if r.opts.backing == format.BackingHeap {
		w.path, w.backing = "the heap backing has no assembly path", "asked for"
		return w
	}
	if !haveDisk {
		w.backing = noDisk
	}
	if !r.clock.Counter() {
		w.path = "the assembly path needs the processor's counter"
		return w
	}
	fast, err := sys.NewFast()
	if err != nil {
		w.path = err.Error()
		return w
	}
	r.fast = fast
	return w
}

func (r *recorder) fileHeader(c sys.Reading) *format.Header {
	h := &format.Header{
		Major:      format.Major,
		Minor:      format.Minor,
		ChunkSize:  format.ChunkSize,
		PageSize:   uint32(os.Getpagesize()),
		PID:        uint32(os.Getpid()),
		Clock:      format.ClockMonotonic,
		Path:       r.writer.path(),
		Backing:    r.pool.Backing(),
		Witness:    r.writer.witness(),
		StartTicks: c.Ticks,
		StartMono:  c.Mono,
		StartWall:  c.Wall,
		TickRate:   r.rate,
		Limit:      max(r.opts.limit, 0),
		Ring:       uint32(r.pool.Ring()),
	}
	if r.clock.Counter() {
		h.Clock = format.ClockTSC
	}
	if h.Ring > 0 {
		h.Limit = 0
	}
	if n := r.pool.Segments(); n > 0 {
		h.Segments, h.Limit = uint16(n), r.opts.ring
	}
	h.ID = r.id
	return h
}

// writeFacts writes what is known of the program, the machine, and what the recorder could use.
func (r *recorder) writeFacts(w reasons) {
	stacks := r.chooseStacks()
	put := r.fact
	exe, _ := os.Executable()
	put("program", exe)
	put("build_id", buildID())
	put("args", strings.Join(os.Args, " "))
	put("go", runtime.Version())
	put("os", runtime.GOOS)
	put("arch", runtime.GOARCH)
	host, _ := os.Hostname()
	put("host", host)
	put("ppid", strconv.Itoa(os.Getppid()))
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // of Linux: traces with the same id share the monotonic clock, except for the offset
	put("boot", strings.TrimSpace(string(boot)))
	put("monotonic_offset", monotonicOffset())
	dir, _ := os.Getwd()
	put("dir", dir)
	put("kernel", sys.Kernel())
	put("cpu", cpuModel())
	if b, ok := debug.ReadBuildInfo(); ok {
		put("module", b.Main.Path)
		put("version", buildVersion(b))
		put("scopeview", ourVersion(b))
	}
	put("path_reason", w.path)
	put("clock_reason", w.clock)
	put("backing_reason", w.backing)
	put("witness_reason", w.cpu)
	if r.pool.Copies() {
		put("buffer", strconv.FormatInt(r.buffer, 10))
	}
	if r.ring != nil {
		put("ring_reason", r.ring.why)
	}
	put("stacks", stacks)
	put("filter", r.opts.Filter)
	r.words = r.writer.path().String() + " path"
	if w.path != "" {
		r.words += " (" + w.path + ")"
	}
	if w.cpu != "" {
		r.words += ", CPU time unknown (" + w.cpu + ")"
	} else if r.gopath != nil {
		r.words += ", CPU time unknown"
	}
	if w.fork != "" {
		r.words += ", a child of fork must not record (" + w.fork + ")"
	}
}

// monotonicOffset returns the ns that the process's time namespace adds to the machine's monotonic
// clock, as text; empty if none or unknown. A process that has created a namespace for its
// children would read theirs.
func monotonicOffset() string {
	own, _ := os.Readlink("/proc/self/ns/time")
	children, _ := os.Readlink("/proc/self/ns/time_for_children")
	if own != children {
		return ""
	}
	b, _ := os.ReadFile("/proc/self/timens_offsets")
	_, text, _ := strings.Cut(string(b), "monotonic")
	text, _, _ = strings.Cut(text, "\n")
	whole, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	s, err1 := strconv.ParseInt(whole, 10, 64)
	ns, err2 := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
	if err1 != nil || err2 != nil || s|ns == 0 {
		return ""
	}
	return strconv.FormatInt(s*1e9+ns, 10)
}

// buildID returns the id that the go command has given the program's executable, as go tool
// buildid prints it; "" if there is no such ELF note. With it, a reader checks whether a file is
// the executable that ran.
func buildID() string {
	f, err := os.Open("/proc/self/exe") // the running file, whatever its path names now
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 8192) // the linker places its notes first
	n, _ := f.Read(head)
	head = head[:n]
	const name = "\x04\x00\x00\x00Go\x00\x00" // the note's type and owner; its length precedes them
	i := strings.Index(string(head), name)
	if i < 4 {
		return ""
	}
	size := int(binary.LittleEndian.Uint32(head[i-4:]))
	note := head[i+len(name):]
	if size < 0 || size > len(note) {
		return ""
	}
	return string(note[:size])
}

// fact writes a fact if its value is known. It is not inlined for the reason given at value.
//
//go:noinline
func (r *recorder) fact(key, value string) {
	if value != "" {
		r.block(format.BlockInfo, format.AppendInfo(nil, key, value))
	}
}

const ourModule = "github.com/scopeview/scopeview"

// buildVersion returns the main module's version, with the commit that it was built at.
func buildVersion(b *debug.BuildInfo) string {
	v := b.Main.Version
	for _, s := range b.Settings {
		if s.Key == "vcs.revision" {
			v += " " + s.Value
		}
		if s.Key == "vcs.modified" && s.Value == "true" {
			v += " (modified)"
		}
	}
	return strings.TrimSpace(v)
}

func ourVersion(b *debug.BuildInfo) string {
	if b.Main.Path == ourModule {
		return buildVersion(b)
	}
	for _, d := range b.Deps {
		if d.Path == ourModule {
			return strings.TrimSpace(d.Version + " " + d.Sum)
		}
	}
	return ""
}

// cpuModel returns the processor's name on Linux, "" elsewhere.
func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(b), "model name")
	line, _, _ := strings.Cut(after, "\n")
	_, name, _ := strings.Cut(line, ":")
	return strings.TrimSpace(name)
}

func (r *recorder) defineName(id uint16, name string) bool {
	return r.block(format.BlockName, format.AppendName(nil, id, name))
}

func ticksPayload(t int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(t)) }

// firstReading is the first reading of the clock. The longer the process has run since, the better
// its rate is known.
var firstReading struct {
	sync.Mutex
	sys.Reading
	counter bool
}

// rateOf returns the clock's ticks per second.
func rateOf(c sys.Clock) int64 {
	firstReading.Lock()
	defer firstReading.Unlock()
	f := &firstReading
	if f.Ticks == 0 || f.counter != c.Counter() {
		f.Reading, f.counter = c.Read(8), c.Counter()
		return c.Rate(3 * time.Millisecond)
	}
	if !c.Counter() {
		return c.Rate(0)
	}
	now := c.Read(8)
	if d := now.Mono - f.Mono; d > int64(20*time.Millisecond) && now.Ticks > f.Ticks {
		return int64(float64(now.Ticks-f.Ticks) / float64(d) * 1e9)
	}
	return c.Rate(3 * time.Millisecond)
}

// scopeCost estimates the cost of one scope, in picoseconds: two readings of the clock and a
// seventh more. Wherever it is shown, it is marked as an estimate.
func scopeCost(c sys.Clock, rate int64) int64 {
	const n = 512
	best := int64(0)
	for range 4 {
		t0 := c.Now()
		for range n {
			c.Now()
		}
		if d := c.Now() - t0; best == 0 || d < best {
			best = d
		}
	}
	return int64(float64(best) / n * 1e12 / float64(rate) * 2 * 8 / 7)
}

// factLeftOut lists the functions that the build did not instrument: a line per reason.
const factLeftOut = "functions_left_out"

var leftOut atomic.Pointer[string]

// LeftOut makes this recording, and all later ones, record which functions are not
// instrumented, and why.
func LeftOut(text string) {
	leftOut.Store(&text)
	if r := current.Load(); r != nil && !r.closed.Load() {
		r.writeOmitted()
	}
}

func (r *recorder) writeOmitted() {
	if text := leftOut.Load(); text != nil {
		r.fact(factLeftOut, *text)
	}
}
