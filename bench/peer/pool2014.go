package peer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/edsrzf/mmap-go"
)

// Pool2014 is the original design of scopeview: one pool in a mapped sparse file, one atomic
// counter that allocates a record per scope to all threads, 48 bytes a record, times from
// the system's clocks.
type Pool2014 struct {
	// CPU also takes the thread's CPU time at both ends: a system call each.
	CPU bool

	file *os.File
	mem  mmap.MMap
	next atomic.Uint64 // number of records asked for
}

// The pool's size is fixed; what does not fit is lost.
const (
	record2014  = 48
	records2014 = 16 << 20
)

// Offsets in a record.
const (
	start2014    = 0
	stop2014     = 8
	cpuStart2014 = 16
	cpuStop2014  = 24
	name2014     = 32
)

// Names have fixed numbers, because only the record is measured.
var names2014 = []string{"f1", "f2", "f3"}

var epoch = time.Now()

func (p *Pool2014) Name() string {
	if p.CPU {
		return "the pool of 2014, with thread CPU time"
	}
	return "the pool of 2014 (one atomic per record)"
}

// Start maps a new sparse file.
func (p *Pool2014) Start(dir string) error {
	f, err := os.Create(filepath.Join(dir, "2014.pool"))
	if err != nil {
		return fmt.Errorf("the pool can't be created: %w", err)
	}
	if err := f.Truncate(record2014 * records2014); err != nil {
		return errors.Join(fmt.Errorf("the pool can't be extended: %w", err), f.Close())
	}
	p.mem, err = mmap.Map(f, mmap.RDWR, 0)
	if err != nil {
		return errors.Join(fmt.Errorf("the pool can't be mapped: %w", err), f.Close())
	}
	p.file = f
	p.next.Store(0)
	return nil
}

// begin allocates a record; none if the pool is full.
func (p *Pool2014) begin(name uint64) open2014 {
	i := p.next.Add(1) - 1
	if i >= records2014 {
		return open2014{}
	}
	r := open2014{p.mem[i*record2014 : (i+1)*record2014], p.CPU}
	le := binary.LittleEndian
	le.PutUint64(r.record[name2014:], name)
	if p.CPU {
		le.PutUint64(r.record[cpuStart2014:], uint64(threadCPU()))
	}
	le.PutUint64(r.record[start2014:], uint64(time.Since(epoch)))
	return r
}

// open2014 is a begun record.
type open2014 struct {
	record []byte
	cpu    bool
}

func (r open2014) end() {
	if r.record == nil {
		return
	}
	le := binary.LittleEndian
	if r.cpu {
		le.PutUint64(r.record[cpuStop2014:], uint64(threadCPU()))
	}
	le.PutUint64(r.record[stop2014:], uint64(time.Since(epoch)))
}

//go:noinline
func (p *Pool2014) scope() { defer p.begin(0).end() }

// Loop records n scopes.
func (p *Pool2014) Loop(n int) {
	for range n {
		p.scope()
	}
}

// Nest records scopes in a scope.
func (p *Pool2014) Nest(outer string, inner ...string) {
	defer p.begin(number2014(outer)).end()
	for _, name := range inner {
		p.begin(number2014(name)).end()
	}
}

func number2014(name string) uint64 { return uint64(slices.Index(names2014, name)) }

// Stop counts the ended records, finds the nesting by their times and unmaps.
func (p *Pool2014) Stop() (Recorded, error) {
	rec := Recorded{Paths: make(map[string]int64)}
	var path []string
	var stops []uint64
	le := binary.LittleEndian
	for i := range min(p.next.Load(), records2014) {
		r := p.mem[i*record2014:]
		start, stop, name := le.Uint64(r[start2014:]), le.Uint64(r[stop2014:]), le.Uint64(r[name2014:])
		if stop == 0 || name >= uint64(len(names2014)) {
			continue
		}
		for n := len(stops); n > 0 && stops[n-1] <= start; n-- {
			path, stops = path[:n-1], stops[:n-1]
		}
		path, stops = append(path, names2014[name]), append(stops, stop)
		rec.Scopes++
		rec.Paths[strings.Join(path, "/")]++
	}
	return rec, errors.Join(p.mem.Unmap(), p.file.Close())
}
