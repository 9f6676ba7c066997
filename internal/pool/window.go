package pool

import (
	"errors"
	"fmt"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// Window sizes, in chunks.
const (
	minWindow = 4 << 20 / ChunkSize
	maxWindow = 64 << 20 / ChunkSize
	maxStep   = 4 << 20 / ChunkSize // prepared at once
	minStep   = 1 << 20 / ChunkSize // less is not worth a system call
)

// pace measures how fast chunks are taken.
type pace struct {
	window int64 // chunks to keep ahead
	used   int64 // bump at the last Extend
	asked  time.Time
}

// ErrNoSpace means that the file system has too little room to record.
var ErrNoSpace = errors.New("not enough space on the file system")

// least returns the smallest window: a ring's chunks are prepared by lots, one of which is ahead
// while another is used.
func (p *Pool) least() int64 { return max(minWindow, 2*p.lotSize) }

// Extend keeps the window ahead of the bump. The window is what the writers would use in 0.1 s at
// the rate since the last call, from 4 MiB up to 64 MiB. If it can't be prepared, the reason that
// Take returns changes, and with it the reason of lost records.
func (p *Pool) Extend() error {
	p.allow()
	now, bump := time.Now(), p.Bump()
	if d := now.Sub(p.asked); d > 0 {
		perTenth := int64(float64(bump-p.used) / d.Seconds() / 10)
		// Down slowly: bursts come again.
		p.window = min(max(perTenth, p.window*3/4, p.least()), p.most)
	}
	p.asked, p.used = now, bump
	return p.extend()
}

func (p *Pool) extend() error {
	if p.again != nil {
		if err := p.again.begin(); err != nil {
			return err
		}
	}
	return p.prepare()
}

// prepare extends the window step by step, so that a writer that is about to run out of chunks gets
// more before all are there.
func (p *Pool) prepare() (failed error) {
	p.lacking = 0
	defer func() {
		// Half of the window is used when this much is left.
		p.half.Store(p.end.Load() - p.window/2)
	}()
	for {
		from := p.lay.from()
		if from >= p.last && p.limit != p.last {
			return p.refuse(errNumbers)
		}
		to := min(p.Bump()+p.window, p.last)
		if n := to - from; n < p.lotSize || n < min(minStep, p.window/2) && to < p.last && from > 1 {
			return failed
		}
		spare, err := p.back.spare()
		if p.again != nil {
			if e := p.again.relieve(err); e != nil {
				return p.refuse(e)
			}
		}
		if spare < p.lotSize {
			p.lacking = to - from - min(spare, 0)
			return p.refuse(err)
		}
		n, err := p.lay.extend(from, min(to-from, spare))
		if n == 0 {
			p.lacking = to - from
			return p.refuse(err)
		}
		failed = err
		p.reason.Store(uint32(format.LossWindow))
		p.ready(from + n)
	}
}

// refuse sets err as the reason why the window ends. A file that is only behind is no such reason:
// the pool stays as if the window had not been extended.
func (p *Pool) refuse(err error) error {
	if err == nil || p.ring > 0 && p.parts == 0 && errors.Is(err, errShm) {
		return nil // a ring in one file evicts waiting chunks
	}
	why := lossOf(err)
	if errors.Is(err, errBehind) {
		if p.parts == 0 {
			return nil
		}
		why, err = format.LossBuffer, nil // segments evict nothing
	}
	p.reason.Store(uint32(why))
	if p.Short() {
		p.dry.Store(uint32(why))
	}
	return err
}

// room returns an error if n more bytes would leave less free than 5 % of the file system or 1 GiB,
// whichever is smaller: a tracer must not fill a disk. Nor may it fill the memory, where the file
// is in memory.
func (p *Pool) room(n int64) error {
	if p.inMemory && p.inMemoryFile()+n > p.allowed.Load() {
		return errMemory
	}
	avail, total, err := p.back.free()
	if err != nil {
		return nil // unknown: the allocation itself will fail
	}
	if keep := min(total/20, 1<<30); avail-n < keep {
		return fmt.Errorf("%s: %d bytes are free, %d must stay free: %w", p.file.f.Name(), avail, keep, ErrNoSpace)
	}
	return nil
}
