package count

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// Values of a channel. The peak of its queue is its length.
const (
	chanLayout = own + iota // offsets in its memory, a byte each
	chanType
	sends // operations, in units
	receives
	sendWaits
	receiveWaits
	sendsOn // of sends: the goroutine's previous operation was on this channel too
	receivesOn
)

// chanPeaks is the largest queue length that the runtime records.
const chanPeaks = 1<<16 - 1

// makeChan handles a make: the channel, its capacity, the elements' type, and the offsets in
// its memory of the peak, 0 if there is none, and of its capacity and type.
func makeChan(a *[8]uintptr, weight int64, pcs []uintptr) {
	x, ok := born(row.Chan, a[0], a[2], weight, pcs)
	if !ok {
		return
	}
	x.v[capacity], x.v[elem], x.v[chanType] = int64(a[1]), sys.TypeSize(a[2]), int64(a[2])
	x.v[chanLayout] = int64(a[3]&0xff | a[4]&0xff<<8 | a[5]&0xff<<16)
	if a[1] == 0 {
		x.v[exactly] = 1
	}
	c.tables[row.Chan].put(&x, &c.rows)
}

// lastChan is the channel that a goroutine used last, by a hash of its number. A goroutine
// that repeats one operation on a channel can run ahead of the other side; one that
// alternates between two waits for an answer.
var lastChan [1024]struct{ user, channel atomic.Uintptr }

// repeated reports whether the goroutine's last channel was this one, and stores it.
func repeated(user, channel uintptr) bool {
	l := &lastChan[user%uintptr(len(lastChan))]
	if l.user.Load() == user && l.channel.Load() == channel {
		return true
	}
	l.user.Store(user)
	l.channel.Store(channel)
	return false
}

// useChan handles an operation: the channel, its peak, and the goroutine, and for a wait
// whether the operation itself had no event.
func useChan(e row.Event, a *[8]uintptr) {
	t := c.tables[row.Chan]
	s, head := t.enter(a[0])
	if s == nil {
		return
	}
	if x := t.find(head, a[0]); x != nil {
		x.held(int64(a[1]))
		n := one()
		switch e {
		case row.ChanSendWait:
			x.v[sendWaits] += n
		case row.ChanReceiveWait:
			x.v[receiveWaits] += n
		}
		if e == row.ChanSend || e == row.ChanReceive || a[2]&1 != 0 {
			at, on := sends, sendsOn
			if e == row.ChanReceive || e == row.ChanReceiveWait {
				at, on = receives, receivesOn
			}
			x.v[at] += n
			if repeated(a[2]>>1, a[0]) {
				x.v[on] += n
			}
		}
	}
	s.leave()
}

// held updates a channel's peak.
func (x *inst) held(n int64) {
	if n < chanPeaks && x.v[chanLayout]&0xff != 0 {
		x.v[length], x.v[exactly] = max(x.v[length], n), 1
	}
}

// lookAtChan reads the peak of a channel that may be dead. A channel that reused its address
// without an event has another capacity or type.
func lookAtChan(x *inst) {
	at, capAt, typAt := uintptr(x.v[chanLayout]&0xff), uintptr(x.v[chanLayout]>>8&0xff), uintptr(x.v[chanLayout]>>16)
	if at == 0 || sys.LoadPointer(x.key+capAt) != uintptr(x.v[capacity]) || sys.LoadPointer(x.key+typAt) != uintptr(x.v[chanType]) {
		return
	}
	x.held(int64(sys.LoadUint16(x.key + at)))
}

// foldChan adds a channel to its row.
func foldChan(x *inst, t *tally) {
	w := x.weight
	add(t, row.Made, w)
	if x.v[capacity] > 0 {
		add(t, row.Hinted, w)
		most(t, row.MaxHint, x.v[capacity])
		least(t, row.MinHint, x.v[capacity])
	}
	add(t, row.LifeNS, w*(c.now.Load()-x.born))
	most(t, row.MaxElem, x.v[elem])
	most(t, row.MaxCap, x.v[capacity])
	see(t, row.Cap, x.v[capacity], w)
	add(t, row.CapBytes, w*x.v[capacity]*x.v[elem])
	if x.v[exactly] != 0 {
		add(t, row.Exact, w)
		most(t, row.MaxLen, x.v[length])
		least(t, row.MinLen, x.v[length])
		see(t, row.Len, x.v[length], w)
		add(t, row.WatchedCap, w*x.v[capacity]*x.v[elem])
		add(t, row.WatchedLen, w*x.v[length]*x.v[elem])
	}
	if x.v[sends]+x.v[receives] > 0 {
		add(t, row.Watched, w)
	}
	add(t, row.Puts, w*x.v[sends]/unit)
	add(t, row.Gets, w*x.v[receives]/unit)
	add(t, row.Waits, w*(x.v[sendWaits]+x.v[receiveWaits])/unit)
	add(t, row.Extra, w*x.v[sendWaits]/unit)
	add(t, row.Extra2, w*x.v[sendsOn]/unit)
	add(t, row.Extra3, w*x.v[receivesOn]/unit)
}
