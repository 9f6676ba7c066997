//go:build linux && amd64 && !scope_off && !scope_pure && !race

package record_test

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/step"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// stopAt is the position at which a stepped writer is left: after a number of instructions or, if
// stores is not 0, when its store of that number has changed the file. Both -1: at its end.
type stopAt struct {
	op            string
	after, stores int
}

// all means that a writer is left at its end.
const all = -1

// stepsRun is the result of a victim whose writers were stepped.
type stepsRun struct {
	stores []int              // of the first writer: the instructions after which the file had changed
	taken  int                // instructions of the first writer
	found  [maxStepped]string // what the reader finds of each stepped writer's records
	holes  int64              // number of places without a record
}

// runSteps stops writers after the given instructions, lets others commit their scopes, kills
// all, and reads the file.
func runSteps(binary string, stops []stopAt) (*stepsRun, error) {
	var ops []string
	for _, s := range stops {
		ops = append(ops, strings.ReplaceAll(s.op, " ", "_"))
	}
	v, err := newVictim(binary, fmt.Sprintf("backing=%d steps=%s", DiskBacking, strings.Join(ops, ",")), "GOMAXPROCS=8", "GODEBUG=asyncpreemptoff=1", "GOGC=off")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(v.dir)
	defer v.unmap()
	if err := v.says("running"); err != nil {
		return nil, err
	}
	run := &stepsRun{}
	stepErr := make(chan error)
	killed := make(chan bool)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		threads, err := v.stepAll(stops, run)
		stepErr <- err
		<-killed
		for _, t := range threads {
			if t.ID() != v.cmd.Process.Pid { // the main thread's id is the process's
				t.Reap()
			}
		}
		killed <- true
	}()
	err = <-stepErr
	if err == nil {
		err = v.othersGoOn()
	}
	err = errors.Join(err, v.cmd.Process.Kill())
	killed <- true
	<-killed
	_ = v.cmd.Wait()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", stops, err, v.err.String())
	}
	run.found, run.holes, err = stepsFound(v.path, int(v.lostEnds.Load()))
	if err != nil {
		return nil, fmt.Errorf("%v: %w", stops, err)
	}
	return run, nil
}

// code is a binary's table of functions.
type code struct{ *gosym.Table }

func readCode(binary string) (code, error) {
	f, err := elf.Open(binary)
	if err != nil {
		return code{}, err
	}
	defer f.Close()
	lines, text := f.Section(".gopclntab"), f.Section(".text")
	if lines == nil || text == nil {
		return code{}, fmt.Errorf("%s does not say where its functions are", binary)
	}
	b, err := lines.Data()
	if err != nil {
		return code{}, err
	}
	c, err := gosym.NewTable(nil, gosym.NewLineTable(b, text.Addr))
	return code{c}, err
}

// ours reports whether an instruction belongs to this module.
func (c code) ours(at uint64) bool {
	f := c.PCToFunc(at)
	return f != nil && strings.HasPrefix(f.Name, "github.com/scopeview/scopeview/")
}

// mostSteps exceeds the instructions of any stepped operation: recording the place of a new
// name takes some 100,000, because the scheduler makes a stepped thread yield again and again.
const mostSteps = 1_000_000

// stepAll steps one writer after the other to its stop: at an instruction of this module,
// because within the Go runtime it may hold a lock of that, which would block all others. Nor
// is it stopped while it holds a lock of the recorder: others that want to do the same, give a
// new name its number, or a thread its first record, would wait for it.
func (v *victimRun) stepAll(stops []stopAt, run *stepsRun) (threads []*step.Thread, err error) {
	f, err := os.Open(v.path)
	if err != nil {
		return threads, err
	}
	defer f.Close()
	file, err := unix.Mmap(int(f.Fd()), 0, 1<<20, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return threads, err
	}
	defer unix.Munmap(file)
	code, err := readCode(v.cmd.Path)
	if err != nil {
		return threads, err
	}
	for i, s := range stops {
		t, err := step.Seize(int(v.steps.tid[i].Load()))
		if err != nil {
			return threads, err
		}
		threads = append(threads, t)
		v.steps.begin[i].Store(1)
		if err := t.ToMark(1); err != nil {
			return threads, err
		}
		var before, now []byte
		if i == 0 {
			before = look(file, nil)
		}
		for n := 0; ; {
			if s.after != all && s.stores <= len(run.stores) && (s.stores > 0 || n >= s.after) && code.ours(t.At()) {
				locked, err := v.locked(t)
				if err != nil {
					return threads, err
				}
				if !locked {
					break
				}
			}
			there, err := t.Step(2)
			if err != nil {
				return threads, err
			}
			if there {
				break
			}
			if n++; n > mostSteps {
				return threads, fmt.Errorf("%q takes more than %d instructions", s.op, mostSteps)
			}
			if i > 0 {
				continue
			}
			run.taken = n
			now = look(file, now)
			if !bytes.Equal(before, now) {
				run.stores = append(run.stores, n)
				before, now = now, before
			}
		}
	}
	return threads, nil
}

// locked reports whether a lock of the recorder is held.
func (v *victimRun) locked(t *step.Thread) (bool, error) {
	if n, err := t.Word(v.steps.reads.Load()); err != nil || n != 0 {
		return true, err
	}
	for i := range v.steps.locks {
		addr := v.steps.locks[i].Load()
		if addr == 0 {
			break
		}
		state, err := t.Word(addr)
		if err != nil || state&1 != 0 {
			return true, err
		}
	}
	return false, nil
}

// look copies what a stepped writer may change: the beginnings and ends of the first chunks.
func look(file, b []byte) []byte {
	const chunks, head, tail = 12, 1 << 10, 1 << 9
	b = b[:0]
	for i := range chunks {
		chunk := file[i*format.ChunkSize : (i+1)*format.ChunkSize]
		b = append(append(b, chunk[:head]...), chunk[len(chunk)-tail:]...)
	}
	return b
}

// othersGoOn lets the others commit their scopes, and returns when they have.
func (v *victimRun) othersGoOn() error {
	if _, err := v.in.Write(make([]byte, others)); err != nil {
		return err
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(200 * time.Microsecond) {
		left := 0
		for i := range v.steps.done {
			left += eachOther - int(v.steps.done[i].Load())
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the others were kept from %d scopes", left)
		}
	}
}

// stepsFound checks that all of the others' scopes are there and that the trace obeys all
// rules. It returns what is there of each stepped writer, the number of its records and what
// the last one is, and the number of places begun by a writer that did not reach its last
// store: holes, extensions without a record, chunks without a header.
func stepsFound(path string, lostEnds int) (found [maxStepped]string, holes int64, err error) {
	tr, err := trace.OpenFile(path)
	if err != nil {
		return found, 0, err
	}
	defer tr.Close()
	var seen [others][eachOther + 1]uint8
	var count [maxStepped]int
	var odd error
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		name := tr.Name(e.Name)
		what := "there"
		if spec := e.Kind.Spec(); spec.Scope && e.Open {
			what = "open"
		} else if spec.Scope {
			what = "ended"
		}
		i := slices.Index(steppedNames[:], name)
		if e.Kind == format.KindCounter {
			return true // it fills a chunk
		}
		switch {
		case i >= 0:
			count[i]++
			found[i] = fmt.Sprintf("%d %s %d/%d", count[i], what, len(e.Args), len(e.EndArgs))
		case name != "other" || len(e.Args) != 2 || e.Args[0].Value >= others || e.Args[1].Value > eachOther:
			odd = fmt.Errorf("there is a %q: %+v", name, *e)
		case what == "ended":
			seen[e.Args[0].Value][e.Args[1].Value]++
		case lostEnds > 0: // counted as lost
			lostEnds--
			seen[e.Args[0].Value][e.Args[1].Value]++
		default:
			odd = fmt.Errorf("one of the others is open: %+v", *e)
		}
		return odd == nil
	}); err != nil || odd != nil {
		return found, 0, errors.Join(err, odd)
	}
	for w := range seen {
		for n, times := range seen[w] {
			if times != 1 {
				return found, 0, fmt.Errorf("scope %d of other %d is there %d times", n, w, times)
			}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return found, 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return found, 0, err
	}
	findings, err := trace.Verify(f, st.Size())
	if err != nil {
		return found, 0, err
	}
	for _, x := range findings {
		if x.Rule == "record-hole" || x.Rule == "record-orphan" {
			continue // the reader reports it as well
		}
		odd = errors.Join(odd, fmt.Errorf("%s at %d: %s", x.Rule, x.Offset, x.Text))
	}
	for _, p := range tr.Problems() {
		if p.Damage() {
			odd = errors.Join(odd, errors.New(p.Text))
		}
		holes += p.Count
	}
	return found, holes, odd
}
