//go:build !scope_off

package record

import (
	"math"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
)

// beats records a heartbeat per interval.
func (r *recorder) beats() {
	defer r.ticker.Done()
	t := time.NewTicker(r.opts.Heartbeat)
	defer t.Stop()
	for {
		select {
		case <-r.quit:
			return
		case <-t.C:
			r.flusher.Alone(func() { r.beat(r.clock.Read(4)) })
			r.flusher.Cost.Round(func() { r.writeCollected(collectTick) })
			r.restIfStuck(t)
		}
	}
}

// beat records all clocks and the state of the process at one moment.
func (r *recorder) beat(now sys.Reading) {
	r.beatMu.Lock()
	defer r.beatMu.Unlock()
	r.block(format.BlockCalib, format.AppendCalib(nil, &format.Calib{Ticks: now.Ticks, Mono: now.Mono, Wall: now.Wall, Bracket: now.Bracket}))
	if stepped := r.stepped(now); stepped || r.trusted && !r.clock.StillTrusted() {
		// The counter stepped or changed its rate, or the kernel stopped trusting it, at
		// some time between the two readings.
		r.trusted = stepped && r.trusted
		r.block(format.BlockBreak, append(ticksPayload(r.last.Ticks), ticksPayload(now.Ticks)...))
	}
	r.last = now
	r.values, r.threads = r.sampler.Sample(r.values[:0], r.threads[:0])
	r.pool.Allow(r.memoryLeft(r.pool.Heap()))
	s := r.stats()
	put := r.value
	// While records are being written, the Go path may count one for several; a reported
	// value must not decrease.
	r.counted = max(r.counted, s.Recorded+s.Overwritten)
	put(format.FieldRecorded, r.counted)
	if r.ring != nil {
		put(format.FieldOverwritten, s.Overwritten)
	}
	for why, f := range format.LossFields {
		if f != 0 && (format.Loss(why) != format.LossOpen || r.ring != nil) {
			put(f, s.Lost[why])
		}
	}
	put(format.FieldStacks, s.Stacks)
	put(format.FieldOtherStacks, s.OtherStacks)
	if r.flusher != nil {
		cpu, unknown := r.flusher.Cost.CPU()
		put(format.FieldOwnCPU, cpu)
		put(format.FieldOwnUnknown, unknown)
	}
	put(format.FieldScopeCost, r.cost)
	put(format.FieldBytes, s.Bytes)
	put(format.FieldWindowLow, s.PreparedLeast)
	put(format.FieldHotFaults, s.PageFaults)
	put(format.FieldPrepared, s.PreparedLate)
	put(format.FieldNames, s.Names)
	put(format.FieldOtherNames, s.OtherNames)
	put(format.FieldDoubleEnds, s.DoubleEnds)
	put(format.FieldForeignEnds, s.ForeignEnds)
	put(format.FieldStaleEnds, s.StaleEnds)
	put(format.FieldArgsCut, s.ArgsCut)
	put(format.FieldOpenLate, r.lateEnds.Load())
	r.writer.beat()
	r.block(format.BlockBeat, format.AppendBeat(nil, now.Ticks, r.values))
	if len(r.threads) > 0 {
		r.block(format.BlockThread, format.AppendThreads(nil, now.Ticks, r.threads))
	}
}

// value adds a value to the beat. Inlined thirty times it would add four kilobytes to every
// program.
//
//go:noinline
func (r *recorder) value(f format.Field, v int64) {
	r.values = append(r.values, format.FieldValue{Field: f, Value: v})
}

// stepped reports whether the counter's rate has changed since the last reading, by more
// than 50 ppm and more than the readings' uncertainty.
func (r *recorder) stepped(now sys.Reading) bool {
	ticks, mono := float64(now.Ticks-r.last.Ticks), float64(now.Mono-r.last.Mono)
	if r.last.Ticks == 0 || mono <= 0 {
		return r.last.Ticks != 0 && mono < 0
	}
	off := math.Abs(ticks - mono*r.slope)
	sure := float64(now.Bracket+r.last.Bracket+r.ticks(2*time.Microsecond)) + mono*r.slope*50e-6
	if r.slope != 0 && off > sure {
		r.slope = 0 // measured again at the next reading
		return true
	}
	if mono >= 100e6 || r.slope == 0 {
		r.slope = ticks / mono
	}
	return false
}

// round runs at the end of each of the flusher's rounds: it writes what readers need soon.
func (r *recorder) round(time.Time) {
	r.setState(false)
	r.writeGaps(false)
	if r.ring != nil {
		r.ring.writeEnds()
	}
	r.stacks.sweep()
	r.obey()
}

// gap is a stretch of losses for one reason, up to now.
type gap struct {
	from, to int64
	count    int64 // losses in the gap
	seen     int64 // last value of the counter
}

// writeGaps records each stretch of losses when it is over, or at once if all is set.
func (r *recorder) writeGaps(all bool) {
	now, lost := r.clock.Now(), r.lost()
	if r.counts.unknown.Load() && !r.unsure {
		r.unsure = true
		r.note("losses are not known from here on: the counters in the trace were changed from outside")
	}
	for why := range r.gaps {
		g := &r.gaps[why]
		if n := lost[why]; n != g.seen {
			if g.count == 0 {
				g.from = g.to // the last tick without a loss
			}
			g.count += n - g.seen
			g.seen, g.to = n, now
			if !all {
				continue
			}
		}
		if g.count > 0 {
			from := max(g.from, r.began)
			r.block(format.BlockGap, format.AppendGap(nil, &format.Gap{From: from, To: now, Count: g.count, Reason: format.Loss(why)}))
		}
		g.count, g.to = 0, now
	}
}
