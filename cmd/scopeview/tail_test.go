//go:build linux || darwin

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// liveTrace is a trace that a test writes as the recorder does: one chunk of blocks, one of
// records, and the lock by which readers detect that its writer lives.
type liveTrace struct {
	t    *testing.T
	path string
	f    *os.File
	at   int64  // offset of the next record
	ring uint32 // chunks of records that are reused
}

const liveStart = 1000

func newLive(t *testing.T) *liveTrace {
	t.Helper()
	l := &liveTrace{t: t, path: filepath.Join(t.TempDir(), "live.scope")}
	f, err := os.Create(l.path)
	if err != nil {
		t.Fatal(err)
	}
	l.f = f
	t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Skip("no locks here: ", err)
	}
	return l
}

func (l *liveTrace) write(b []byte, at int64) {
	l.t.Helper()
	if _, err := l.f.WriteAt(b, at); err != nil {
		l.t.Fatal(err)
	}
}

// begin writes the trace as it is when Start returns.
func (l *liveTrace) begin() {
	l.t.Helper()
	if err := l.f.Truncate(3 * format.ChunkSize); err != nil {
		l.t.Fatal(err)
	}
	for i, kind := range []format.ChunkKind{format.ChunkBlocks, format.ChunkRecords} {
		b := make([]byte, format.ChunkHeaderSize)
		h := format.ChunkHeader{Kind: kind, Path: format.PathAssembly, Index: uint32(i + 1), Since: liveStart, Gen: 1}
		switch {
		case l.ring != 0 && kind == format.ChunkBlocks:
			h.Flags = format.FlagKept
		case l.ring != 0:
			h.Number = 1
		}
		format.PutChunkHeader(b, &h)
		if kind == format.ChunkBlocks {
			b = format.AppendBlock(b, format.BlockName, format.AppendName(nil, 2, "f"))
			b = format.AppendBlock(b, format.BlockName, format.AppendName(nil, 3, "slow"))
		}
		l.write(b, int64(i+1)*format.ChunkSize)
	}
	l.at = 2*format.ChunkSize + format.ChunkHeaderSize
	l.write(format.AppendHeader(nil, &format.Header{
		Major: format.Major, Minor: format.Minor, ChunkSize: format.ChunkSize, PageSize: 4096, PID: uint32(os.Getpid()),
		Clock: format.ClockMonotonic, Path: format.PathAssembly, Backing: format.BackingDisk,
		StartTicks: liveStart, StartMono: liveStart, StartWall: 1_700_000_000e9, TickRate: 1e9, Ring: l.ring,
	}), 0)
}

// overwrite reuses the chunk of records as the chunk with that number.
func (l *liveTrace) overwrite(number uint32, since int64) {
	l.t.Helper()
	state := binary.LittleEndian.AppendUint64(nil, uint64(number))
	l.write(binary.LittleEndian.AppendUint64(state, uint64(since)), format.StateOffset+format.StateOverwritten)
	const at = 2 * format.ChunkSize
	l.write(make([]byte, 4096), at)
	l.write(make([]byte, format.ChunkSize-4096), at+4096)
	b := make([]byte, format.ChunkHeaderSize)
	format.PutChunkHeader(b, &format.ChunkHeader{Kind: format.ChunkRecords, Path: format.PathAssembly, Index: 2, Since: since, Gen: 1, Number: number})
	l.write(b[4:], at+4)
	l.write(b[:4], at)
	l.at = at + format.ChunkHeaderSize
}

// scope writes an ended scope, or an open one if stop is 0, and returns its location.
func (l *liveTrace) scope(name uint16, start, stop int64) (loc int64) {
	l.t.Helper()
	r := format.Record{Start: start, Stop: stop, Head: format.Head(7, format.KindTask, false, name)}
	if stop == 0 {
		r.Stop = format.OpenStop(1, 0, 0)
	}
	loc = l.at
	b := format.AppendRecord(nil, &r)
	l.write(b[8:], loc+8)
	l.write(b[:8], loc) // the start comes last
	l.at += format.RecordSize
	return loc
}

func (l *liveTrace) end(loc, stop int64) {
	l.write(binary.LittleEndian.AppendUint64(nil, uint64(stop)), loc+8)
}

func (l *liveTrace) lose(n int64) {
	l.write(binary.LittleEndian.AppendUint64(nil, uint64(n)), format.StateOffset+format.StateLost)
}

// following is a running tail.
type following struct {
	t      *testing.T
	lines  chan string // of standard output
	errs   *bufio.Reader
	stop   context.CancelFunc
	exited chan int
}

func follow(t *testing.T, args ...string) *following {
	t.Helper()
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	f := &following{t: t, lines: make(chan string, 1000), stop: cancel, exited: make(chan int, 1), errs: bufio.NewReader(errR)}
	go func() {
		f.exited <- execute(ctx, &streams{out: outW, err: errW}, append([]string{"tail"}, args...))
		outW.Close()
		errW.Close()
	}()
	go func() {
		for s := bufio.NewScanner(outR); s.Scan(); {
			f.lines <- s.Text()
		}
		close(f.lines)
	}()
	t.Cleanup(cancel)
	return f
}

const patience = 20 * time.Second

func (f *following) line() string {
	f.t.Helper()
	select {
	case s := <-f.lines:
		return s
	case <-time.After(patience):
		f.t.Fatal("no line came")
		return ""
	}
}

// ends waits for the exit code, and returns the remaining output with it.
func (f *following) ends() (code int, rest []string, errs string) {
	f.t.Helper()
	b, _ := io.ReadAll(f.errs)
	for s := range f.lines {
		rest = append(rest, s)
	}
	select {
	case code = <-f.exited:
	case <-time.After(patience):
		f.t.Fatal("tail does not end")
	}
	return code, rest, string(b)
}

func TestTailLive(t *testing.T) {
	l := newLive(t)
	// It is started before the writer has written the header.
	f := follow(t, l.path, "--from", "0")
	l.begin()
	open := l.scope(3, 2000, 0)
	var took []time.Duration
	for i := range int64(20) {
		begin := time.Now()
		l.scope(2, 10_000+i*1000, 10_500+i*1000)
		want := fmt.Sprintf("22:13:20.%06d     500ns         -  g7        f", 9+i)
		if got := f.line(); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	t.Logf("from end to line: median %v, longest %v", took[10], took[19])
	if took[10] > 100*time.Millisecond {
		t.Errorf("a line takes %v, want at most 100ms", took[10])
	}
	l.end(open, 50_000)
	if got, want := f.line(), "22:13:20.000049    48.0µs         -  g7        slow"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	l.lose(5)
	if got, err := f.errs.ReadString('\n'); err != nil || !strings.Contains(got, "5 more lost") {
		t.Errorf("%q, %v", got, err)
	}
	f.stop()
	if code, rest, errs := f.ends(); code != exitOK || len(rest) != 0 || errs != "" {
		t.Errorf("exit %d, %q, %q", code, rest, errs)
	}
}

func TestTailFromNowOn(t *testing.T) {
	l := newLive(t)
	l.begin()
	for i := range int64(100) {
		l.scope(2, 2000+i, 3000+i)
	}
	open := l.scope(3, 4000, 0)
	f := follow(t, l.path, "--still-open")
	for range 2 {
		if got := f.line(); !strings.Contains(got, "…      open  g7        slow") {
			t.Errorf("%q, want the open scope", got)
		}
	}
	l.end(open, 5000)
	got := f.line()
	for strings.Contains(got, " open ") {
		got = f.line()
	}
	if want := "22:13:20.000004    1.00µs         -  g7        slow"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// The writer dies: its lock is released, and its last records are still printed.
	l.scope(2, 6000, 7000)
	l.f.Close()
	code, rest, errs := f.ends()
	if code != exitOK || !strings.Contains(errs, "ended, or was killed") {
		t.Errorf("exit %d, %q", code, errs)
	}
	if len(rest) != 1 || !strings.HasSuffix(rest[0], " f") {
		t.Errorf("printed at last: %q", rest)
	}
}

func TestTailEndsWithTheRecording(t *testing.T) {
	l := newLive(t)
	l.begin()
	f := follow(t, l.path, "--from", "0", "--name", "slow")
	l.scope(2, 6000, 7000)
	l.scope(3, 6000, 8000)
	if got := f.line(); !strings.HasSuffix(got, " slow") {
		t.Errorf("%q", got)
	}
	b := format.AppendBlock(nil, format.BlockName, format.AppendName(nil, 2, "f"))
	b = format.AppendBlock(b, format.BlockName, format.AppendName(nil, 3, "slow"))
	l.write(format.AppendBlock(nil, format.BlockStop, format.AppendTicks(nil, 9000)), format.ChunkSize+format.ChunkHeaderSize+int64(len(b)))
	state := binary.LittleEndian.AppendUint64(nil, 1)
	state = binary.LittleEndian.AppendUint64(state, 9000)
	state = binary.LittleEndian.AppendUint64(state, 3*format.ChunkSize)
	l.write(state[8:], format.StateOffset+8)
	l.write(state[:8], format.StateOffset)
	if code, rest, errs := f.ends(); code != exitOK || len(rest) != 0 || !strings.Contains(errs, "the recording was stopped") {
		t.Errorf("exit %d, %q, %q", code, rest, errs)
	}
}

// TestTailRing follows a ring: chunks are reused for other records. Chunks overwritten before they
// could be read are reported; those overwritten long before only if --from asks for them.
func TestTailRing(t *testing.T) {
	l := newLive(t)
	l.ring = 1
	l.begin()
	l.overwrite(2, 5000)
	l.scope(2, 6000, 7000)
	f := follow(t, l.path, "--from", "0", "--strict")
	printed := func(want string) {
		t.Helper()
		if got, err := f.errs.ReadString('\n'); err != nil || !strings.Contains(got, want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	printed("2 older records were overwritten; what began after 4.00µs is whole")
	if got, want := f.line(), "22:13:20.000006    1.00µs         -  g7        f"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	l.scope(3, 7500, 0)
	l.overwrite(3, 8000) // it was not sealed: tail can't know whether it read all of it
	l.scope(3, 8000, 9000)
	if got, want := f.line(), "22:13:20.000008    1.00µs         -  g7        slow"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	printed("at least 1 chunk of the ring was overwritten before it could be read")
	f.stop()
	if code, rest, errs := f.ends(); code != exitLosses || len(rest) != 0 || errs != "" {
		t.Errorf("exit %d, %q, %q", code, rest, errs)
	}
}

// TestTailRingFromNowOn: chunks overwritten before tail began are not reported.
func TestTailRingFromNowOn(t *testing.T) {
	l := newLive(t)
	l.ring = 1
	l.begin()
	l.overwrite(2, 5000)
	open := l.scope(3, 6000, 0)
	f := follow(t, l.path, "--still-open", "--strict")
	for range 2 {
		if got := f.line(); !strings.Contains(got, "…      open  g7        slow") {
			t.Errorf("%q, want the open scope", got)
		}
	}
	l.end(open, 7000)
	f.stop()
	if code, _, errs := f.ends(); code != exitOK || errs != "" {
		t.Errorf("exit %d, %q", code, errs)
	}
}

// TestG25Tail: a file that shrinks under tail, to any size, is an error, not a crash.
func TestG25Tail(t *testing.T) {
	sizes := []int64{2*format.ChunkSize + 100, format.ChunkSize + 7, format.ChunkSize, 100, 0}
	for _, size := range sizes {
		l := newLive(t)
		l.begin()
		f := follow(t, l.path, "--from", "0")
		l.scope(2, 6000, 7000)
		f.line()
		if err := l.f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := f.ends(); code != exitFailed || !strings.Contains(errs, l.path) || !strings.Contains(errs, "shrank") || strings.Count(errs, "\n") != 1 {
			t.Errorf("to %d bytes: exit %d, %q", size, code, errs)
		}
	}
	t.Logf("G25: tail, its file cut to %v bytes: a line that says so and exit %d each time", sizes, exitFailed)
}
