package chrome

import (
	"math"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/export/rows"
)

// profile is the call tree written so far: a node is a function called from its parent. Node
// numbers start at firstNode.
type profile struct {
	nodes  map[node]uint32
	leaves map[[2]uint32]uint32 // by Sample.Stack
	micros int64                // time of the sample before, in µs
	last   int64                // latest time so far
}

type node struct {
	parent         uint32
	function, file string
}

const (
	profileID  = 1
	firstNode  = 2 // Chrome's page hides node 1, which in V8's profiles is a root without a function
	profileRow = math.MaxUint32
)

// Sample implements rows.Sink. Chrome's page sorts profiles by ts and depends on the ones
// before; so ts never decreases, and timeDeltas has the true time.
func (s *writer) Sample(x *rows.Sample) {
	if s.profile.nodes == nil {
		s.profile = profile{nodes: map[node]uint32{}, leaves: map[[2]uint32]uint32{}}
		s.meta("thread_name", profileRow, "name", "CPU samples")
		s.end(append(s.beginProfile("Profile", profileRow), `,"args":{"data":{"startTime":0}}`...))
	}
	p := &s.profile
	row := x.Row()
	p.last = max(p.last, x.Time)
	b := append(s.beginProfile("ProfileChunk", row.ID), `,"args":{"data":{"cpuProfile":{`...)
	leaf, ok := p.leaves[x.Stack]
	if !ok {
		b, leaf = p.appendNodes(b, x)
		p.leaves[x.Stack] = leaf
	}
	b = strconv.AppendUint(append(b, `"samples":[`...), uint64(leaf), 10)
	micros := x.Time / 1000
	b = strconv.AppendInt(append(b, `]},"timeDeltas":[`...), micros-p.micros, 10)
	p.micros = micros
	s.end(append(b, `]}}`...))
}

func (s *writer) beginProfile(name string, tid uint32) []byte {
	b := s.appendTime(s.begin("P", tid), s.profile.last)
	b = appendNamed(b, name, "sample")
	return strconv.AppendUint(append(b, `,"id":`...), profileID, 10)
}

// appendNodes appends the new nodes of a stack, and returns the leaf's.
func (p *profile) appendNodes(b []byte, x *rows.Sample) ([]byte, uint32) {
	at, fresh := uint32(0), 0
	for i := len(x.Frames) - 1; i >= 0; i-- {
		n := node{parent: at, function: x.Frames[i].Func}
		if file := x.Frames[i].File; file != "" {
			n.file = rows.Base(file)
		}
		id, ok := p.nodes[n]
		if !ok {
			id = firstNode + uint32(len(p.nodes))
			p.nodes[n] = id
			if fresh++; fresh == 1 {
				b = append(b, `"nodes":[`...)
			} else {
				b = append(b, ',')
			}
			b = appendNode(b, id, n)
		}
		at = id
	}
	if fresh > 0 {
		b = append(b, `],`...)
	}
	return b, at
}

func appendNode(b []byte, id uint32, n node) []byte {
	b = strconv.AppendUint(append(b, `{"id":`...), uint64(id), 10)
	if n.parent != 0 {
		b = strconv.AppendUint(append(b, `,"parent":`...), uint64(n.parent), 10)
	}
	b = args.AppendString(append(b, `,"callFrame":{"functionName":`...), n.function)
	if n.file != "" {
		b = args.AppendString(append(b, `,"url":`...), n.file)
	}
	return append(b, `}}`...)
}

// Notes implements rows.Sink.
func (s *writer) Notes(list []string) { s.notes = strings.Join(list, "; ") }
