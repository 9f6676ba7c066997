package perfetto

import (
	"io"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/trace"
)

// Ids of the sequence. A name's id is the trace's plus one, as 0 means none; a category's is
// its kind.
const (
	sequence   = 1
	goCategory = 1 << 7
	goName     = 1 << 17

	lockCategory = goCategory + 1
	lockName     = goName + 1

	stateCategory = goCategory + 2
	firstState    = goName + 2
)

// writer is the sink that appends packets.
type writer struct {
	rows.Output
	packets int64
	text    func(uint16) string
	last    uint64 // time of the packet before

	next     uint64 // id of the next track; a row's is in Mark
	gauges   map[*rows.Gauge][]uint64
	counters map[uint16]uint64 // track by name
	defined  []bool            // names that are interned, by id
	states   uint32            // bits of the states that are interned
	keys     map[string]uint64 // keys of arguments that are interned

	stacks  stacks
	program string
	pid     uint64

	event, part, entry, interned []byte // the current packet's
	header                       []byte
}

func newWriter(w io.Writer, t *trace.Trace) *writer {
	return &writer{
		Output: rows.NewOutput(w, "protobuf"), text: t.Name, next: firstTrack,
		gauges: map[*rows.Gauge][]uint64{}, counters: map[uint16]uint64{}, keys: map[string]uint64{},
	}
}

func (s *writer) size() Size { return Size{Packets: s.packets, Bytes: s.Bytes} }

// packet appends one packet to the trace.
func (s *writer) packet(p []byte) {
	s.packets++
	s.B = appendBytes(s.B, tracePacket, p)
	s.Spill()
}

func (s *writer) track(descriptor []byte) {
	s.packet(appendBytes(appendVarint(nil, packetSequence, sequence), packetTrackDescriptor, descriptor))
}

// begin begins an event on a track; it clears s.interned for the event's definitions.
func (s *writer) begin(kind, track uint64) {
	s.interned = s.interned[:0]
	s.event = appendVarint(s.event[:0], eventType, kind)
	s.event = appendVarint(s.event, eventTrack, track)
}

// emit writes the event.
func (s *writer) emit(ns int64) { s.emitAs(packetTrackEvent, ns) }

// emitAs writes what was begun as a field of a packet. Times before the trace's start
// don't exist in the format; they count as 0.
func (s *writer) emitAs(field protowire.Number, ns int64) {
	t := uint64(max(ns, 0))
	h := s.header[:0]
	if t >= s.last {
		h = appendVarint(h, packetTimestamp, t-s.last)
		s.last = t
	} else {
		h = appendVarint(h, packetTimestamp, t)
		h = appendVarint(h, packetClock, clockTrace)
	}
	h = appendVarint(h, packetSequence, sequence)
	h = appendVarint(h, packetSequenceFlags, needsState)
	if len(s.interned) > 0 {
		h = appendBytes(h, packetInterned, s.interned)
	}
	s.header = appendBytes(h, field, s.event)
	s.packet(s.header)
}

func appendInterned(b []byte, table protowire.Number, id uint64, name string) []byte {
	return appendBytes(b, table, appendString(appendVarint(nil, internedID, id), internedName, name))
}
