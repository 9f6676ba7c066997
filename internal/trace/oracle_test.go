package trace_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"slices"
	"strconv"
)

// This is a second reader, written from docs/format.md alone: it shares no code with the first one,
// nor with package format, and reads a whole trace into memory. Where it and the reader differ, the
// page decides. Paragraph numbers are those of the page.

const (
	maxTicks = 1 << 60
	keptAt   = 1 << 24 // §11: the first number of kept chunks
	maxNo    = 16_773_119
)

// Kinds (§4) that the reader treats specially.
const (
	kTask, kProcess, kEvent, kPending, kCounter, kWait, kHold, kTrack, kGo, kAnchor, kEnd, kTaskf, kMade = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
)

func isSpan(kind int) bool {
	return kind == kTask || kind == kProcess || kind == kWait || kind == kHold || kind == kTaskf
}
func canOpen(kind int) bool { return isSpan(kind) || kind == kPending }

func u32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func u64(b []byte, at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
func i64(b []byte, at int) int64  { return int64(u64(b, at)) }

func crc(parts ...[]byte) (sum uint32) {
	for _, p := range parts {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), p)
	}
	return sum
}

type oChunk struct {
	loc, since, place int64
	gen, flags, owner uint32
	path              byte
	records           []*oRecord
}

type carryKey struct{ loc, start int64 }

type oracle struct {
	size, start, mono, rate, until, last int64
	ring, ns1, closed                    bool
	names                                map[int]string
	knots, breaks                        [][2]int64
	places                               map[int64]*oChunk
	carries                              map[carryKey]*oRecord
	carried                              []carryKey // in the order in which they were found
	all                                  []*oRecord
	members                              map[uint32]int64 // of a merged trace: their ends, by number
	shift                                uint32
}

// readOracle reads a trace and returns a line for each event; ok is false if it can't be read.
func readOracle(data []byte) (lines []string, ok bool) {
	h := append(bytes.Clone(data[:min(len(data), 192)]), make([]byte, 192-min(len(data), 192))...)
	o := &oracle{size: int64(u32(h, 12)), start: i64(h, 52), mono: i64(h, 60), rate: i64(h, 76), until: i64(h, 168),
		ring: u32(h, 92) != 0, ns1: u32(h, 24) == 2, names: map[int]string{0: "", 1: "(other names)"}, places: map[int64]*oChunk{}, carries: map[carryKey]*oRecord{}}
	if string(h[:8]) != "SCOPEVW\x01" || h[8] > 1 || h[9] > 0 || crc(h[:96]) != u32(h, 96) ||
		o.size < 4096 || o.size > 16<<20 || o.size&(o.size-1) != 0 || o.start <= 0 || o.start >= maxTicks || o.rate <= 0 {
		return nil, false
	}
	o.last, o.closed = o.start, u64(h, 128) == 1
	o.saw(i64(h, 136))
	o.index(data)
	o.read(data)
	return append(lines, o.events()...), true
}

// index finds the chunks by their address (§3, §11).
func (o *oracle) index(data []byte) {
	for place := o.size; place < int64(len(data)); place += o.size {
		var c [64]byte
		copy(c[:], data[place:])
		k := &oChunk{loc: place, since: i64(c[:], 16), place: place, gen: u32(c[:], 24), flags: u32(c[:], 28), owner: u32(c[:], 12), path: c[5]}
		if u32(c[:], 0) != 0x6b6e6843 || int64(u32(c[:], 8))*o.size != place || k.since <= 0 || k.since >= maxTicks ||
			i64(c[:], 32) < 0 || i64(c[:], 32) > o.size || c[4] != 1 && c[4] != 2 {
			continue
		}
		if o.ring {
			switch number := int64(u32(c[:], 40)); {
			case k.flags&4 != 0 && (number != 0 || c[4] == 1):
				continue
			case k.flags&4 != 0:
				k.loc += keptAt * o.size
			case number < 1 || number > maxNo:
				continue
			default:
				k.loc = number * o.size
			}
		}
		if was := o.places[k.loc]; was == nil || k.gen > was.gen || k.gen == was.gen && k.since > was.since {
			o.places[k.loc] = k
		}
	}
}

func (o *oracle) saw(times ...int64) {
	for _, t := range times {
		if t > 0 && t < maxTicks {
			o.last = max(o.last, t)
		}
	}
}

// read reads the blocks, and the records, of all chunks in order.
func (o *oracle) read(data []byte) {
	type writer struct {
		path  byte
		owner uint32
	}
	var chunks []*oChunk
	for _, k := range o.places {
		chunks = append(chunks, k)
	}
	slices.SortFunc(chunks, func(a, b *oChunk) int { return cmp.Compare(a.loc, b.loc) })
	newest := map[writer]*oChunk{}
	var calibs [][2]int64
	for _, k := range chunks {
		there := int(min(o.size, int64(len(data))-k.place))
		c := make([]byte, o.size)
		copy(c, data[k.place:])
		end := int(i64(c, 32))
		if c[4] == 2 {
			if end == 0 {
				end = len(c)
			}
			o.blocks(c[:min(end, there)], &calibs)
			continue
		}
		limit := end
		if end == 0 {
			limit = len(c)
			for end = len(c); end > 0 && u64(c, end-8) == 0; end -= 8 {
			}
			end = (end + 31) &^ 31
		}
		walk(c, min(end, there), min(limit, there), k.loc, func(r *oRecord) {
			r.owner, r.since = k.owner, k.since
			k.records = append(k.records, r)
		})
		o.all = append(o.all, k.records...)
		if w := (writer{k.path, k.owner}); newest[w] == nil || !o.ring || k.since >= newest[w].since {
			newest[w] = k
		}
	}
	for _, k := range chunks {
		for _, r := range k.records {
			if k.flags&2 == 0 || newest[writer{k.path, k.owner}] == k {
				o.saw(r.start)
				if canOpen(r.kind) {
					o.saw(r.word1)
				}
			}
		}
	}
	// §8
	o.knots = [][2]int64{{o.start, 0}}
	slices.SortStableFunc(calibs, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for _, c := range calibs {
		before, ns := o.knots[len(o.knots)-1], c[1]-o.mono
		if c[0]-before[0] >= max(1, o.rate/10) && ns > before[1] && ns < 1<<61 && !o.ns1 {
			o.knots = append(o.knots, [2]int64{c[0], ns})
		}
	}
	ends := map[int64]*oRecord{}
	gone := map[carryKey]*oRecord{}
	var order []carryKey
	for _, k := range chunks {
		if k.flags&3 == 2 {
			continue // it was written out, and has none
		}
		for _, r := range k.records {
			if r.kind != kEnd || !r.has(9) {
				continue
			}
			loc := int64(r.slots[0].value)
			key := carryKey{loc, r.word1}
			if o.names0(loc, r.word1) {
				if ends[loc] == nil {
					ends[loc] = r
				}
			} else if (o.closed || r.word1 < o.until) && o.canHold(loc) && r.word1 > 0 && r.word1 < maxTicks && gone[key] == nil && r.has(9, 10) && (r.begun() == nil || canOpen(r.begun().kind) && (r.slots[1].value == 0 || r.slots[1].value == r.begun().goid)) {
				gone[key] = r
				order = append(order, key)
			}
		}
	}
	o.remember(gone, order)
	for _, r := range o.all {
		if r.made {
			r.end = gone[carryKey{r.loc, r.start}]
		} else {
			r.end = ends[r.loc]
		}
	}
}

// blocks reads the blocks of a chunk (§7).
func (o *oracle) blocks(c []byte, calibs *[][2]int64) {
	for at := 64; at+16 <= len(c) && u64(c, at) != 0; {
		n := int64(u32(c, at))
		if int64(at)+16+n > int64(len(c)) {
			return
		}
		if p := c[at+16 : at+16+int(n)]; crc(c[at:at+8], p) == u32(c, at+8) {
			o.block(int(u32(c, at+4)&0xffff), p, calibs)
		}
		at += 16 + int(n+7)&^7
	}
}

func (o *oracle) block(typ int, p []byte, calibs *[][2]int64) {
	times := map[int]int{2: 1, 3: 1, 4: 1, 6: 2, 7: 1, 8: 2, 9: 1, 12: 1, 13: 1, 16: 1, 22: 2}[typ]
	// By type, the least length and the unit of what may follow.
	length := map[int][2]int{1: {8, 1}, 2: {32, 1}, 3: {8, 16}, 4: {8, 24}, 6: {32, 1}, 7: {8, 1}, 8: {16, 1}, 9: {8, 1}, 12: {8, 24}, 13: {56, 32}, 16: {56, 0}, 22: {96, 1}}[typ]
	if more := len(p) - length[0]; more < 0 || more > 0 && (length[1] == 0 || more%length[1] != 0) {
		return
	}
	var t [2]int64
	for i := range times {
		if t[i] = i64(p, 8*i); t[i] <= 0 || t[i] >= maxTicks {
			return
		}
	}
	switch typ {
	case 1:
		id := int(u32(p, 0))
		if _, known := o.names[id]; !known && id < 65536 && len(p) <= 8+1024 {
			o.names[id] = string(p[8:])
		}
	case 2:
		*calibs = append(*calibs, [2]int64{t[0], i64(p, 8)})
	case 6:
		if t[0] > t[1] || i64(p, 16) < 0 {
			return
		}
	case 8:
		o.breaks = append(o.breaks, [2]int64{min(t[0], t[1]), max(t[0], t[1])})
	case 13:
		o.carry(p)
		return
	case 22:
		if !o.member(p) {
			return
		}
	case 16:
		// Name and kind share a word with zeros; acquired is the first number.
		if u64(p, 16)>>16 > 3 || i64(p, 24) < -1 || i64(p, 32) < 0 || i64(p, 40) < 0 || i64(p, 40) > i64(p, 32) || i64(p, 48) < 0 {
			return
		}
	}
	o.saw(t[:times]...)
}

// member reads the description of a process of a merged trace.
func (o *oracle) member(p []byte) bool {
	number, parent, shift := u32(p, 64), u32(p, 68), u32(p, 72)
	rest := p[88:]
	for range 4 { // texts with their lengths, and what is left
		if len(rest) < 2 {
			return false
		}
		n := int(rest[0]) | int(rest[1])<<8
		if n > 4096 || n > len(rest)-2 {
			return false
		}
		rest = rest[2+n:]
	}
	if len(rest) > 4096 {
		return false
	}
	if number == 0 || number > 65535 || parent > 65535 || shift == 0 || shift > 39 || uint64(number)<<shift >= 1<<40 || i64(p, 0) > i64(p, 8) {
		return false
	}
	for _, at := range []int{32, 40, 48, 56} { // error, lost, overwritten, breaks
		if least := map[bool]int64{true: -1}[at == 32]; i64(p, at) < least {
			return false
		}
	}
	if _, twice := o.members[number]; twice || len(o.members) > 0 && o.shift != shift {
		return false
	}
	if o.members == nil {
		o.members = map[uint32]int64{}
	}
	o.members[number], o.shift = i64(p, 8), shift
	return true
}

// carry reads the carry of a record of an overwritten chunk (§11).
func (o *oracle) carry(p []byte) {
	loc, ext := i64(p, 8), p[56:]
	r := newORecord(p[24:], loc)
	if loc <= 0 || loc%32 != 0 || len(ext)%32 != 0 || r.hasExt != (len(ext) > 0) || r.hasExt && (!isExt(u64(ext, 0)) || 32*int(ext[0]) != len(ext)) {
		return
	}
	o.saw(i64(p, 0))
	if !o.ring || !canOpen(r.kind) && r.kind != kTrack && r.kind != kGo && r.kind != kMade || r.start <= 0 || r.start >= maxTicks || !o.canHold(loc) {
		return
	}
	if r.hasExt {
		r.extend(ext)
	}
	r.thread, r.owner, r.recorded, r.made = u32(p, 16), u32(p, 20), i64(p, 0), true
	key := carryKey{loc, r.start}
	if was := o.carries[key]; was == nil {
		o.carried = append(o.carried, key)
	} else if was.recorded > r.recorded {
		return
	}
	o.carries[key] = r
}

func (o *oracle) canHold(loc int64) bool {
	return loc >= o.size && loc < keptAt*o.size && loc%o.size >= 64 && loc%32 == 0
}

// names0 reports whether loc is in a chunk that exists, for a record that began at start.
func (o *oracle) names0(loc, start int64) bool {
	if !o.ring {
		return true
	}
	k := o.places[loc-loc%o.size]
	return loc >= 0 && k != nil && start >= k.since
}

// remember adds the records that only carries and ends have.
func (o *oracle) remember(gone map[carryKey]*oRecord, order []carryKey) {
	for _, key := range o.carried {
		if o.names0(key.loc, key.start) {
			delete(o.carries, key)
		} else {
			o.all = append(o.all, o.carries[key])
		}
	}
	for _, key := range order {
		e := gone[key]
		switch r := o.carries[key]; {
		case r != nil && canOpen(r.kind):
			r.word1 |= math.MinInt64 // the end apart ends it, whatever the carry has
		case r == nil && e.begun() != nil:
			r = e.begun()
			r.loc, r.owner, r.made = key.loc, e.owner, true
			o.all = append(o.all, r)
		}
	}
}

// ns converts ticks (§8).
func (o *oracle) ns(t int64) int64 {
	if o.ns1 {
		return t - o.start
	}
	if len(o.knots) == 1 {
		return scaled(t-o.start, 1e9, o.rate)
	}
	i := 0
	for i+2 < len(o.knots) && o.knots[i+1][0] <= t {
		i++
	}
	a, b := o.knots[i], o.knots[i+1]
	if last := len(o.knots) - 1; i+1 == last && t >= b[0] {
		return b[1] + scaled(t-b[0], b[1]-a[1], b[0]-a[0])
	}
	return a[1] + scaled(t-a[0], b[1]-a[1], b[0]-a[0])
}

// scaled returns x × mul ÷ div, rounded down.
func scaled(x, mul, div int64) int64 {
	v := new(big.Int).Mul(big.NewInt(x), big.NewInt(mul))
	return v.Div(v, big.NewInt(div)).Int64() // div is positive
}

// events returns the lines of the records' events (§9).
func (o *oracle) events() (lines []string) {
	var events []*oRecord
	for _, r := range o.all {
		if r.kind == kEnd || r.kind == kAnchor {
			continue
		}
		r.begin, r.stop, r.cpu = max(r.start, r.since), r.word1, r.word3
		if r.kind == kMade {
			r.kind, r.goid, r.word1, r.word3 = kGo, uint64(r.word1)&(1<<40-1), r.begin, r.goid
		}
		r.open = canOpen(r.kind) && r.word1 < 0
		e := r.end
		r.end = nil
		if r.open && e != nil && e.word1 == r.start && e.has(9, 10) && (e.slots[1].value == 0 || e.slots[1].value == r.goid) {
			r.open, r.stop, r.cpu, r.end = false, e.start, e.word3, e
		}
		if r.open && !r.made && o.ring && r.word1>>62&1 == 1 && r.start < o.until {
			continue // its end was overwritten
		}
		r.good = !r.open && r.begin <= r.stop && r.stop < maxTicks
		r.time = r.begin
		if r.kind == kPending && r.good {
			r.time = r.stop
		}
		events = append(events, r)
	}
	slices.SortStableFunc(events, func(a, b *oRecord) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.loc, b.loc)) })
	rows, tracks := map[[3]uint64][]int64{}, map[uint64]int{}
	for _, r := range events {
		key := [3]uint64{r.goid}
		if r.goid == 0 {
			if key[1] = uint64(r.thread); r.thread == 0 {
				key[2] = uint64(r.owner) + 1
			}
		}
		row := slices.DeleteFunc(rows[key], func(stop int64) bool { return stop <= r.time })
		if (r.kind == kTrack || r.kind == kGo) && r.goid != 0 {
			tracks[r.goid] = r.name
		}
		track := 0
		if r.goid != 0 {
			track = tracks[r.goid]
		}
		lines = append(lines, o.line(r, len(row), track))
		if isSpan(r.kind) {
			switch {
			case r.open:
				row = append(row, maxTicks)
			case r.good:
				row = append(row, r.stop)
			}
		}
		rows[key] = row
	}
	return lines
}

// line returns an event's line, as eventLine does for the reader.
func (o *oracle) line(r *oRecord, depth, track int) string {
	stop := r.begin
	if r.open {
		stop = o.last
		if to, ok := o.members[uint32(r.goid>>o.shift)]; ok {
			stop = min(stop, to)
		}
		stop = max(stop, r.begin)
	} else if r.good {
		stop = r.stop
	}
	dur, cpu, quality, user, system := int64(0), int64(0), uint64(0), int64(-1), int64(-1)
	if isSpan(r.kind) {
		dur = o.ns(stop) - o.ns(r.begin)
	}
	args, endArgs := r.slots, []slot(nil)
	if r.end != nil {
		if endArgs = r.end.slots[2:]; r.end.has(9, 10, 14) {
			endArgs = endArgs[1:]
		}
	}
	ended := len(endArgs) > 1 && endArgs[0].typ == 11 && endArgs[1].typ == 12
	if r.kind == kProcess {
		begun := r.has(11, 12)
		if begun && ended && r.good {
			u, s := int64(endArgs[0].value-args[0].value), int64(endArgs[1].value-args[1].value)
			if int64(args[0].value|args[1].value|endArgs[0].value|endArgs[1].value) >= 0 && u >= 0 && s >= 0 {
				user, system, cpu, quality = u, s, u+s, 1
			}
		}
		if begun {
			args = args[2:]
		}
	} else if isSpan(r.kind) && r.good && r.cpu&3 != 0 {
		spans := slices.ContainsFunc(o.breaks, func(b [2]int64) bool { return r.begin < b[1] && r.stop > b[0] })
		if !spans {
			v := new(big.Int).SetUint64(r.cpu >> 2)
			v.Div(v.Mul(v, big.NewInt(1e9)), big.NewInt(o.rate))
			if cpu, quality = dur, r.cpu&3; v.IsInt64() {
				cpu = min(cpu, v.Int64())
			}
		}
	}
	if ended { // they are no arguments, whatever the kind
		endArgs = endArgs[2:]
	}
	name := r.name
	var others []slot
	for i := 0; i < len(endArgs); i++ {
		if r.kind == kTask && i+1 < len(endArgs) && endArgs[i].typ == 8 && endArgs[i+1].typ == 7 && string(endArgs[i+1].text) == "scopeotel.renamed" {
			name = int(endArgs[i].value & 0xffff)
			i++
		} else {
			others = append(others, endArgs[i])
		}
	}
	endArgs = others
	value := ""
	switch r.kind {
	case kCounter:
		value = fmt.Sprintf(" value=%d:%d", min(r.word3, 255)&15, uint64(r.word1))
	case kGo:
		created := r.word1
		if created <= 0 || created >= maxTicks {
			created = r.begin
		}
		value = fmt.Sprintf(" created=%d creator=%d", o.ns(created), r.word3)
	}
	by := uint64(0)
	if r.end != nil && r.end.goid != r.goid {
		by = r.end.goid
	}
	left := r.end != nil && r.end.goid == 0 && r.goid != 0 && (r.kind == kTask || r.kind == kTaskf || r.kind == kProcess)
	return lineOf(r.kind, o.name(name), r.goid, depth, o.ns(r.time), dur, r.open || left, r.made, quality, cpu, user, system, value, r.thread, r.owner, by,
		o.name(track), o.slots(args), o.slots(endArgs))
}

// lineOf returns the line by which the two readers are compared.
func lineOf(kind int, name string, goid uint64, depth int, start, dur int64, open, gone bool, quality uint64, cpu, user, system int64, value string,
	thread, owner uint32, by uint64, track, args, endArgs string) string {
	return fmt.Sprintf("kind %d %s g=%d depth=%d start=%d dur=%d open=%t gone=%t cpu=%d/%d user=%d system=%d%s thread=%d owner=%d endg=%d track=%s |%s ||%s",
		kind, name, goid, depth, start, dur, open, gone, cpu, quality, user, system, value, thread, owner, by, track, args, endArgs)
}

func (o *oracle) name(id int) string {
	if text, ok := o.names[id]; ok {
		return strconv.Quote(text)
	}
	return strconv.Quote(fmt.Sprintf("(name %d)", id))
}

func (o *oracle) slots(list []slot) (text string) {
	for _, s := range list {
		value := strconv.FormatUint(s.value, 10)
		if s.typ == 8 {
			value = o.name(int(s.value & 0xffff))
		}
		text += fmt.Sprintf(" %d:%s%q", s.typ, value, s.text)
	}
	return text
}
