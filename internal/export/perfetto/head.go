package perfetto

import (
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// The first track ids: the process, then the three groups; later tracks have the next ones.
const (
	processTrack = 1 + iota
	goroutinesTrack
	heartbeatTrack
	countersTrack
	firstTrack
)

// head writes the facts about the whole, and the groups.
func (s *writer) head(t *trace.Trace, f *rows.Facts) {
	snapshot := appendClock(nil, clockTrace, 0, false)
	snapshot = appendClock(snapshot, clockRealtime, uint64(t.Start().UnixNano()), false)
	snapshot = appendClock(snapshot, clockDelta, 0, true)
	var interned []byte
	for _, spec := range format.Specs {
		if spec.CSV != "" {
			interned = appendInterned(interned, internedCategories, uint64(spec.Kind), spec.CSV)
		}
	}
	interned = appendInterned(interned, internedCategories, goCategory, "go")
	interned = appendInterned(interned, internedCategories, lockCategory, "lock")
	interned = appendInterned(interned, internedNames, goName, "go")
	interned = appendInterned(interned, internedNames, lockName, "lock")
	p := appendVarint(nil, packetTimestamp, 0)
	p = appendVarint(p, packetClock, clockTrace)
	p = appendVarint(p, packetSequence, sequence)
	p = appendVarint(p, packetSequenceFlags, stateCleared)
	p = appendBytes(p, packetDefaults, appendVarint(nil, packetClock, clockDelta))
	p = appendBytes(p, packetClockSnapshot, snapshot)
	p = appendBytes(p, packetInterned, interned)
	s.packet(p)

	s.attributes(f.All)
	s.program, s.pid = f.Program, uint64(max(t.Header().PID, 1)&0x7fffffff)
	process := appendVarint(nil, processPID, s.pid)
	process = appendString(process, processName, f.Program)
	if f.Losses != "" {
		process = appendString(process, processLabels, f.Losses)
	}
	s.track(appendBytes(appendVarint(nil, trackUUID, processTrack), trackProcess, process))
	for i, name := range []string{"goroutines", "heartbeat", "counters"} {
		d := newTrack(goroutinesTrack+uint64(i), processTrack, name)
		s.track(appendVarint(d, trackChildOrdering, orderExplicit))
	}
	for i, g := range rows.Gauges {
		for _, series := range g.Series {
			name := g.Name
			if len(g.Series) > 1 {
				name += ", " + series
			}
			unit := uint64(unitCount)
			if g.Bytes {
				unit = unitBytes
			}
			d := newTrack(s.next, heartbeatTrack, name)
			d = appendVarint(d, trackRank, uint64(i))
			s.track(appendBytes(d, trackCounter, appendVarint(nil, counterUnit, unit)))
			s.gauges[g] = append(s.gauges[g], s.next)
			s.next++
		}
	}
}

func (s *writer) attributes(list [][2]string) {
	var all []byte
	for _, v := range list {
		a := appendString(nil, attributeKey, v[0])
		all = appendBytes(all, attributesAttribute, appendString(a, attributeString, v[1]))
	}
	s.packet(appendBytes(appendVarint(nil, packetSequence, sequence), packetAttributes, all))
}

func appendClock(b []byte, id, ns uint64, delta bool) []byte {
	c := appendVarint(nil, clockID, id)
	c = appendVarint(c, clockTimestamp, ns)
	if delta {
		c = appendBool(c, clockIsIncremental, true)
	}
	return appendBytes(b, snapshotClocks, c)
}

func newTrack(id, parent uint64, name string) []byte {
	b := appendVarint(nil, trackUUID, id)
	b = appendVarint(b, trackParent, parent)
	b = appendString(b, trackName, name)
	return appendVarint(b, trackMergeBehavior, mergeNone)
}
