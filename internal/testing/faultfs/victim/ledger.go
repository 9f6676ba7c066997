//go:build linux

package victim

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
)

// ledger is memory that the victim and the test share, in words. All accesses use package
// atomic.
type ledger struct {
	words []uint64
	file  *os.File
	at    int64 // offset in the range
}

// Words of a ledger that do not belong to a worker.
const (
	wordReady      = iota // set by the victim: it records, or has failed to
	wordGo                // set by the test: the victim may start
	wordStop              // set by the test: the workers must end
	wordDone              // set by the victim: the workers have ended, and the recording is stopped
	wordPolls             // set by the victim: number of updates of the counts below
	wordPause             // longest pause of the garbage collector since the test's reset, ns
	wordCollection        // longest run of the collector since the test's reset, ns
	wordCollect           // number of collections
	wordStall             // longest time since the test's reset in which a goroutine that sleeps for 1 ms did not run, ns
	wordRecorded
	wordOverwritten
	wordLost           // by reason, in the order of scope.Lost
	wordUser    = 32   // 32 words for the work
	wordWorkers = 64   // the first worker's
	perWorker   = 1024 // words of a worker
	maxWorkers  = 63   //
	ledgerSize  = 64 * 8 * perWorker
)

// Words of a worker.
const (
	workBegun     = iota // scopes whose begin was called
	workKept             // of these, those that the recorder accepted; stored after begin has returned
	workEnded            // scopes whose end has returned
	workKeptEnded        // of these, those that the recorder had accepted
	workLast             // number of the last of these, plus 1
	workAlso             // further issued records
	workWorst            // longest call since the test's reset, ns
	workHistogram = 8
	workFloor     = 8 + buckets // of an empty measurement
)

// shared is the mapping of this process's ledgers.
var shared struct {
	sync.Mutex
	r    *sys.Range
	free []int64
	next int64
}

func newLedger() (*ledger, error) {
	fd, err := unix.MemfdCreate("ledger", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("no memory to share: %w", err)
	}
	f := os.NewFile(uintptr(fd), "ledger")
	if err := f.Truncate(ledgerSize); err != nil {
		f.Close()
		return nil, err
	}
	return openLedger(f)
}

// openLedger maps a ledger; it takes ownership of f.
func openLedger(f *os.File) (*ledger, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.r == nil {
		r, err := sys.NewRange(1 << 30)
		if err != nil {
			return nil, err
		}
		shared.r = r
	}
	at := shared.next
	if n := len(shared.free); n > 0 {
		at, shared.free = shared.free[n-1], shared.free[:n-1]
	} else {
		shared.next += ledgerSize
	}
	if err := shared.r.Map(int(f.Fd()), 0, at, ledgerSize); err != nil {
		f.Close()
		return nil, err
	}
	return &ledger{words: shared.r.Words(at, ledgerSize), file: f, at: at}, nil
}

func (l *ledger) close() {
	shared.Lock()
	defer shared.Unlock()
	_ = shared.r.Vacate(-1, l.at, ledgerSize, false)
	shared.free = append(shared.free, l.at)
	l.file.Close()
}

func (l *ledger) load(i int) uint64     { return atomic.LoadUint64(&l.words[i]) }
func (l *ledger) store(i int, v uint64) { atomic.StoreUint64(&l.words[i], v) }

// of returns the index of a worker's word.
func of(worker, word int) int { return wordWorkers + worker*perWorker + word }
