//go:build !scope_off

package record

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/heartbeat"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
)

// Internals for the tests of recordings, which use package scope.

var (
	Current     = &current
	Remote      = &remote
	LockTable   = &lockTable.count
	ErrThreads  = errThreads
	EndNow      = endNow
	BeginSlow   = begin
	ProgramName = programName
	Thin        = thin
	WaitersOf   = waitersOf
	WaitShare   = waitShare
	LockMethod  = lockMethod
)

const (
	Extension    = extension
	HaveDisk     = haveDisk
	NoDisk       = noDisk
	HeadTask     = headTask
	MaxLocks     = maxLocks
	MaxPlaces    = maxPlaces
	CountBits    = countBits
	OwnThreads   = ownThreads
	OwnedPart    = ownedPart
	RowWords     = rowWords
	SpinFor      = spinFor
	StripeCount  = stripeCount
	TriggerFiles = triggerFiles
	CollectTick  = collectTick
)

type Recorder = recorder

func (r *recorder) Pool() *pool.Pool                  { return r.pool }
func (r *recorder) Fast() *sys.Fast                   { return r.fast }
func (r *recorder) Clock() *sys.Clock                 { return &r.clock }
func (r *recorder) Goids() *sys.Goids                 { return &r.goids }
func (r *recorder) Gen() int64                        { return r.gen }
func (r *recorder) File() *os.File                    { return r.file }
func (r *recorder) Hot() *os.File                     { return r.hot }
func (r *recorder) Losses() []uint64                  { return r.losses }
func (r *recorder) BeatMu() *sync.Mutex               { return &r.beatMu }
func (r *recorder) Last() *sys.Reading                { return &r.last }
func (r *recorder) IsRing() bool                      { return r.ring != nil }
func (r *recorder) NamesMu() *sync.RWMutex            { return &r.names.mu }
func (r *recorder) BlocksMu() *sync.Mutex             { return &r.blocks.mu }
func (r *recorder) Header() []uint64                  { return r.header() }
func (r *recorder) Offset(h Handle) int64             { return r.offset(h) }
func (r *recorder) Ticks(d time.Duration) int64       { return r.ticks(d) }
func (r *recorder) Beat(now sys.Reading)              { r.beat(now) }
func (r *recorder) LoseMany(why format.Loss, n int64) { r.loseMany(why, n) }
func (r *recorder) LockSums(now collecting)           { r.lockSums(now) }
func (r *recorder) Flusher() **flusher.Flusher        { return &r.flusher }
func (r *recorder) NewFlusher() *flusher.Flusher      { return r.newFlusher() }
func (r *recorder) Lost() [format.LossReasons]int64   { return r.lost() }

// StripeMus returns the locks of the Go path's stripes; none on the assembly path.
func (r *recorder) StripeMus() (all []*sync.Mutex) {
	if r.gopath == nil {
		return nil
	}
	for i := range r.gopath.stripes {
		all = append(all, &r.gopath.stripes[i].mu)
	}
	return all
}

func (o *Options) SetTriggerEvery(d time.Duration) { o.triggerEvery = d }
func (o *Options) OwnLimit(bytes int64)            { o.limit = bytes }
func (o *Options) BriefLocks() bool                { return o.brief.lock != nil && o.brief.unlock != nil }

func (l *LockState) Waiters() int {
	if s := l.sums.Load(); s != nil {
		return int(s.waiters.Load())
	}
	return 0
}

func (l *LockState) Count() uint64 { return l.count }

func (t *Retries) Begun() bool { return t.w.begun }

// LookAsleep replaces, during the test, the function that detects a deadlocked program.
func LookAsleep(t *testing.T, f func(*heartbeat.Sampler) bool) {
	before := looksAsleep
	looksAsleep = f
	t.Cleanup(func() { looksAsleep = before })
}

// ReleasesPass reports whether releases of locks are being skipped.
func ReleasesPass() bool { return ownersShut.Load()&1 != 0 }

// Parts returns the number of non-empty segments of the given size, whether they have files
// yet or not.
func Parts(bytes int64) int {
	p, parts := current.Load().pool, map[int64]bool{}
	for _, idx := range p.Live(nil) {
		if at, _ := p.Place(idx); at > 0 && !p.Kept(idx) {
			parts[(at-1)/(bytes/format.ChunkSize-1)] = true
		}
	}
	return len(parts)
}
