//go:build linux && amd64 && !scope_off && !scope_pure && !race

package record_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/step"
	. "github.com/scopeview/scopeview/scope"
)

// steppers is memory shared by stepped writers and their parent.
type steppers struct {
	tid   [maxStepped]atomic.Int64 // set when the writer is about to begin
	begin [maxStepped]atomic.Uint32
	ready atomic.Uint32 // number of the others that are ready
	done  [others]atomic.Uint64
	goid  [others]atomic.Uint64
	locks [record.StripeCount + 8]atomic.Uint64 // addresses of the recorder's mutexes that writers use; 0: end
	reads atomic.Uint64                         // address of the number of readers of the names
}

const (
	maxStepped = 4
	others     = 2
	eachOther  = 50_000
)

// stepped are the operations of stepped writers: prepare is called before, with the name
// of its records, and returns the function that is stepped.
var stepped = map[string]struct {
	prepare func(name string) func()
	// What the reader finds before and after the store that publishes the record: the
	// number of records and, of the last one, whether it has ended and the numbers of
	// its arguments.
	before, after string
	places        int // of 32 bytes, taken
	stores        int // in the assembly, the last of which publishes the record; 0: unknown
}{
	"begin": {func(name string) func() {
		Task(name)()
		return func() { Task(name) }
	}, "1 ended 0/0", "2 open 0/0", 1, 4},
	"begin with ints": {func(name string) func() {
		Task(name, 1, 2)()
		return func() { Task(name, 1, 2) }
	}, "1 ended 2/0", "2 open 2/0", 2, 8},
	"begin with text": {func(name string) func() {
		Task(name, "text", KV("key", 1.5))()
		return func() { Task(name, "text", KV("key", 1.5)) }
	}, "1 ended 3/0", "2 open 3/0", 3, 0},
	"end": {func(name string) func() {
		s := Begin(name)
		return func() { s.End() }
	}, "1 open 0/0", "1 ended 0/0", 0, 2},
	"end with text": {func(name string) func() {
		s := Begin(name)
		return func() { s.End("text") }
	}, "1 open 0/0", "1 ended 0/1", 3, 0},
	"end elsewhere": {func(name string) func() {
		Counter("fill", 0) // this P has a chunk
		var s Span
		var wg sync.WaitGroup
		wg.Go(func() { s = Begin(name) })
		wg.Wait()
		return func() { s.End() }
	}, "1 open 0/0", "1 ended 0/0", 2, 0},
	"event": {func(name string) func() {
		Event(name)
		return func() { Event(name) }
	}, "1 there 0/0", "2 there 0/0", 1, 0},
	"event with an int": {func(name string) func() {
		Event(name, 1)
		return func() { Event(name, 1) }
	}, "1 there 1/0", "2 there 1/0", 2, 0},
	"begin with a new name": {func(name string) func() {
		return func() { Task(name) }
	}, "", "1 open 0/0", 1, 0},
	"begin in a new chunk": {func(name string) func() {
		r := record.Current.Load()
		for bump := r.Pool().Bump(); bump == r.Pool().Bump(); {
			Counter("fill", 0)
		}
		for range fullChunk - 2 {
			Counter("fill", 0)
		}
		Task(name)()
		return func() { Task(name) }
	}, "1 ended 0/0", "2 open 0/0", 1, 0},
}

// fullChunk is the number of records without arguments in a chunk, besides its anchor.
const fullChunk = (format.ChunkSize-format.ChunkHeaderSize)/format.RecordSize - 1

// steppedNames are the names of their records: constants, which are found by address.
var steppedNames = [maxStepped]string{"t0", "t1", "t2", "t3"}

// step is the victim of a stepping test: each of ops is done by a writer, and others
// continue on request.
func (t *truth) step(ops []string) {
	if ops[0] == "late" {
		t.late()
	}
	for i := range others {
		go func() {
			t.steps.goid[i].Store(record.Current.Load().Goids().Get())
			Task("other", i, 0)() // it has its name, and its chunk
			t.steps.ready.Add(1)
			// They wait in system calls: a timer may belong to the P of the stopped
			// writer, and would be late.
			if _, err := unix.Read(0, make([]byte, 1)); err != nil {
				fmt.Println(err)
			}
			for n := uint64(0); n < eachOther; {
				s := Begin("other", i, n+1)
				if handleOf(s).Loc == 0 {
					_ = unix.Nanosleep(&unix.Timespec{Nsec: 100_000}, nil)
					continue
				}
				s.End()
				if lost := record.Current.Load().Lost()[format.LossEnd]; lost > 0 {
					t.lostEnds.Store(lost)
				}
				n++
				t.steps.done[i].Store(n)
			}
		}()
	}
	for t.steps.ready.Load() < others {
		time.Sleep(100 * time.Microsecond)
	}
	t.publishLocks()
	for i, op := range ops {
		t.neighbour(func() {
			runtime.LockOSThread()
			t.steps.tid[i].Store(int64(unix.Gettid()))
			for t.steps.begin[i].Load() == 0 {
				time.Sleep(100 * time.Microsecond)
			}
			// From here on it must not yield, because it would continue on another P,
			// with another chunk. The 10 ms without preemption begin at the sleep's end.
			f := stepped[op].prepare(steppedNames[i])
			step.Mark(1)
			f()
			step.Mark(2)
			select {}
		})
		for t.steps.tid[i].Load() == 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	fmt.Println("running")
	select {}
}

// publishLocks publishes the locks' addresses. A mutex's first word is its state, whose bit
// 1 means locked; an RWMutex begins with the writers' mutex, and counts its readers.
func (t *truth) publishLocks() {
	r := record.Current.Load()
	locks := []unsafe.Pointer{unsafe.Pointer(r.NamesMu()), unsafe.Pointer(r.BlocksMu())}
	if r.Fast() != nil {
		locks = append(locks, reflect.ValueOf(r.Fast()).Elem().FieldByName("mu").Addr().UnsafePointer())
	}
	for _, mu := range r.StripeMus() {
		locks = append(locks, unsafe.Pointer(mu))
	}
	reads := reflect.ValueOf(r.NamesMu()).Elem().FieldByName("readerCount").Addr().UnsafePointer()
	t.steps.reads.Store(uint64(uintptr(reads)))
	for i, p := range locks {
		t.steps.locks[i].Store(uint64(uintptr(p)))
	}
}

// neighbour runs f on a goroutine with the same stripe on the Go path as the first of
// the others, so that what it leaves undone lies between that one's records.
func (t *truth) neighbour(f func()) {
	for found := false; !found; {
		asked := make(chan bool)
		go func() {
			same := record.Current.Load().Goids().Get()%record.StripeCount == t.steps.goid[0].Load()%record.StripeCount
			asked <- same
			if same {
				f()
			}
		}()
		found = <-asked
	}
}

func stepsOf(ways []string) []string {
	for _, way := range ways {
		if ops, ok := strings.CutPrefix(way, "steps="); ok {
			return strings.Split(strings.ReplaceAll(ops, "_", " "), ",")
		}
	}
	return nil
}
