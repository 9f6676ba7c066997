package rows_test

import (
	"slices"
	"strconv"
	"testing"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a decoded protobuf message: the values of each field, in order.
type message map[uint64][]value

type value struct {
	n     uint64 // varints, fixed64
	bytes []byte
}

func (m message) num(field uint64) uint64 {
	if v := m[field]; len(v) > 0 {
		return v[len(v)-1].n
	}
	return 0
}

func (m message) str(t *testing.T, field uint64) string {
	t.Helper()
	if v := m[field]; len(v) > 0 {
		if !utf8.Valid(v[0].bytes) {
			t.Errorf("%q is not UTF-8", v[0].bytes)
		}
		return string(v[0].bytes)
	}
	return ""
}

func (m message) sub(t *testing.T, field uint64) message {
	t.Helper()
	if v := m[field]; len(v) > 0 {
		return decode(t, v[0].bytes)
	}
	return nil
}

// decode decodes a message without its schema.
func decode(t *testing.T, b []byte) message {
	t.Helper()
	m := message{}
	for len(b) > 0 {
		number, typ, n := protowire.ConsumeTag(b)
		size := protowire.ConsumeFieldValue(number, typ, b[max(n, 0):])
		if n < 0 || size < 0 {
			t.Fatalf("no field in % x", b)
		}
		var v value
		switch value := b[n:]; typ {
		case protowire.VarintType:
			v.n, _ = protowire.ConsumeVarint(value)
		case protowire.Fixed64Type:
			v.n, _ = protowire.ConsumeFixed64(value)
		case protowire.BytesType:
			v.bytes, _ = protowire.ConsumeBytes(value)
		default:
			t.Fatalf("wire type %d", typ)
		}
		b = b[n+size:]
		m[uint64(number)] = append(m[uint64(number)], v)
	}
	return m
}

// packet is a TrackEvent with its time.
type packet struct {
	time  int64
	event message
}

// readPerfetto replays a file as a trace processor does: packets by time, and on each track
// begins and ends by a stack.
func readPerfetto(t *testing.T, data []byte, end int64) *drawn {
	t.Helper()
	d := &drawn{instants: map[string]int{}, counters: map[string]int{}, flows: map[string]int{}}
	names, categories, keys := map[uint64]string{}, map[uint64]string{}, map[uint64]string{}
	tracks, parents := map[uint64]string{}, map[uint64]uint64{}
	var clock int64
	var events []packet
	for _, raw := range decode(t, data)[1] {
		p := decode(t, raw.bytes)
		interned := p.sub(t, 12)
		for field, table := range map[uint64]map[uint64]string{1: categories, 2: names, 3: keys} {
			for _, v := range interned[field] {
				x := decode(t, v.bytes)
				if _, twice := table[x.num(1)]; twice {
					t.Errorf("%d is defined twice in table %d", x.num(1), field)
				}
				table[x.num(1)] = x.str(t, 2)
			}
		}
		if x := p.sub(t, 60); x != nil {
			tracks[x.num(1)], parents[x.num(1)] = x.str(t, 2), x.num(5)
			if x.num(1) != 1 && (tracks[x.num(5)] == "" && x.num(5) != 1 || x.num(15) != 2) {
				t.Errorf("track %v has no parent, or is merged", x)
			}
		}
		if x := p.sub(t, 11); x != nil {
			at := int64(p.num(8))
			if p.num(58) == 0 {
				clock += at
				at = clock
			}
			if _, ok := tracks[x.num(11)]; !ok { // a counter's may have no name
				t.Errorf("%v is on no track", x)
			}
			events = append(events, packet{at, x})
		}
		if p.num(10) != 1 {
			t.Errorf("sequence %d", p.num(10))
		}
	}
	slices.SortStableFunc(events, func(a, b packet) int { return int(a.time - b.time) })
	stacks := map[uint64][]int{}
	started := map[uint64]string{} // by id: the name of their begin
	ended := map[uint64]bool{}
	for _, p := range events {
		e := p.event
		track := e.num(11)
		name, kind := unix(names[e.num(10)]), categories[e.num(3)]
		switch e.num(9) {
		case 1:
			s := slice{kind: kind, name: name, row: strconv.Itoa(int(track)), start: p.time, end: end, open: true}
			stacks[track] = append(stacks[track], len(d.slices))
			d.slices = append(d.slices, s)
		case 2:
			n := len(stacks[track])
			if n == 0 {
				t.Fatalf("an end without a begin at %d on %s", p.time, tracks[track])
			}
			s := &d.slices[stacks[track][n-1]]
			s.end, s.open = p.time, false
			stacks[track] = stacks[track][:n-1]
			kind = s.kind
		case 3:
			if kind != "go" && kind != "lock" {
				d.instants[kind+" "+name]++
			}
		case 4:
			if tracks[parents[track]] == "counters" {
				d.counters[unix(tracks[track])]++
			}
		}
		for _, v := range e[47] {
			started[v.n] = kind
		}
		for _, v := range e[48] {
			from := started[v.n]
			if from == "" {
				t.Errorf("flow %d at %d comes from nowhere", v.n, p.time)
			}
			d.flows[from]++
			ended[v.n] = true
		}
	}
	for id, kind := range started {
		if !ended[id] {
			t.Errorf("flow %d, of %s, never ends", id, kind)
		}
	}
	return d
}
