package count

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// Depth is the maximum number of frames of a call stack.
const Depth = 32

// maxSites is the maximum number of rows.
const maxSites = 1 << 14

// site is a row while counting.
type site struct {
	hash  atomic.Uint64 // 0: unused; setting it claims the site
	ready atomic.Uint32 // the rest of the key is set
	kind  row.Kind
	depth uint8
	typ   atomic.Uint64
	pcs   [Depth]uint64
	row.Stats
}

// rows is the table of sites.
type rows struct {
	sites []site
	depth int // frames that distinguish rows; 0: one row per kind
	full  atomic.Int64
	used  atomic.Int64
}

func (r *rows) init() { r.sites = sys.OffHeap[site](r, maxSites) }

// of returns the row of a kind and a call stack, and adds it if necessary: nil if there is
// no room.
func (r *rows) of(k row.Kind, typ uintptr, pcs []uintptr) *site {
	pcs = pcs[:min(len(pcs), r.depth, Depth)]
	if len(pcs) == 0 {
		typ = 0 // one row for all
	}
	h := uint64(k) * 0x9e3779b97f4a7c15
	for _, pc := range pcs {
		h = (h ^ uint64(pc)) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	if h == 0 {
		h = 1
	}
	for i := range uint64(64) {
		s := &r.sites[(h+i)%maxSites]
		switch s.hash.Load() {
		case h:
			return s
		case 0:
			if !s.hash.CompareAndSwap(0, h) {
				if s.hash.Load() == h {
					return s
				}
				continue
			}
			s.kind, s.depth = k, uint8(len(pcs))
			for j, pc := range pcs {
				s.pcs[j] = uint64(pc)
			}
			s.typ.Store(uint64(typ))
			r.used.Add(1)
			s.ready.Store(1)
			return s
		}
	}
	r.full.Add(1)
	return nil
}

// index returns a row's number, from 1; 0 for nil.
func (r *rows) index(s *site) uint32 {
	if s == nil {
		return 0
	}
	return uint32((s.hash.Load()+r.distance(s))%maxSites) + 1
}

// distance returns the number of slots between a row and its first possible one.
func (r *rows) distance(s *site) uint64 {
	h := s.hash.Load()
	for i := range uint64(64) {
		if &r.sites[(h+i)%maxSites] == s {
			return i
		}
	}
	return 0
}

// tally is a row's statistics, or a copy of them.
type tally = row.Stats

// add adds to a value, from any goroutine.
func add(t *tally, v row.Value, n int64) { atomic.AddInt64(&t.V[v], n) }

// most updates a maximum.
func most(t *tally, v row.Value, n int64) {
	for {
		was := atomic.LoadInt64(&t.V[v])
		if n <= was || atomic.CompareAndSwapInt64(&t.V[v], was, n) {
			return
		}
	}
}

// least updates a minimum of the values above 0.
func least(t *tally, v row.Value, n int64) {
	for {
		was := atomic.LoadInt64(&t.V[v])
		if n <= 0 || was != 0 && n >= was || atomic.CompareAndSwapInt64(&t.V[v], was, n) {
			return
		}
	}
}

// see counts a value of a distribution.
func see(t *tally, h row.Hist, v, times int64) { atomic.AddInt64(&t.H[h][row.Bucket(v)], times) }

// addHist counts values of a bucket.
func addHist(t *tally, h row.Hist, bucket int, times int64) { atomic.AddInt64(&t.H[h][bucket], times) }

func loadValue(t *tally, v int) int64   { return atomic.LoadInt64(&t.V[v]) }
func loadHist(t *tally, h, b int) int64 { return atomic.LoadInt64(&t.H[h][b]) }
