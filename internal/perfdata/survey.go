package perfdata

import (
	"context"
	"fmt"
	"math"
)

// survey is the result of the first pass.
type survey struct {
	f         *file
	spaces    *spaces
	lost      uint64 // samples for which the kernel had no room
	throttled int64  // how often the kernel throttled samples
	unknown   int64  // number of records of kinds that Linux does not have
}

func (f *file) survey(ctx context.Context) (*survey, error) {
	s := &survey{f: f, spaces: newSpaces()}
	if err := f.scan(ctx, s.record); err != nil {
		return nil, err
	}
	for i := range s.spaces.objects {
		if o := &s.spaces.objects[i]; o.id == "" {
			o.id = f.builds[o.path]
		}
	}
	s.spaces.sort()
	return s, nil
}

// record processes all records except samples.
func (s *survey) record(r record) error {
	c := cursor{b: r.body, order: s.f.order}
	switch r.kind {
	case recordCompressed, recordCompressed2:
		return s.f.fail(r.at, "the records are compressed (perf record -z), which is not read: record without -z")
	case recordMmap, recordMmap2:
		s.mapping(r, &c)
	case recordComm:
		s.command(r, &c)
	case recordFork:
		s.fork(r, &c)
	case recordLost:
		c.u64()
		s.lose(c.u64())
	case recordLostSamples:
		s.lose(c.u64())
	case recordThrottle:
		s.throttled++
	case recordExit: // a later process with the same pid has a fork record
		c.skip(24)
	default:
		if r.kind == 0 || r.kind > lastOfKernel && r.kind < recordAttr || r.kind > lastOfPerf {
			s.unknown++
		} else if r.kind >= recordAttr {
			s.piped(r, &c)
		}
	}
	if c.bad {
		return s.f.fail(r.at, "a record of kind %d has %d bytes, too few for its contents", r.kind, recordHead+len(r.body))
	}
	return nil
}

// lose counts losses reported by the kernel. The numbers come from the file, so their sum
// saturates.
func (s *survey) lose(n uint64) {
	s.lost += min(n, math.MaxUint64-s.lost)
}

// mapping processes the mapping of a file's code by a process.
func (s *survey) mapping(r record, c *cursor) {
	const data, hasID, kernel = 1 << 13, 1 << 14, 1<<32 - 1 // PERF_RECORD_MISC_MMAP_…; the process
	pid := c.u32()
	c.u32()
	m := change{time: s.f.timeOf(r), from: c.u64()}
	size := c.u64()
	m.to, m.offset = m.from+size, c.u64()
	id := ""
	if r.kind == recordMmap2 {
		about := c.take(24)
		if r.misc&hasID != 0 && len(about) > 0 {
			id = fmt.Sprintf("%x", about[4:4+min(int(about[0]), 20)])
		}
		c.skip(8)
	}
	if c.bad || r.misc&data != 0 || pid == kernel || m.to < m.from {
		return
	}
	m.object = s.spaces.object(zeroEnded(c.b), id)
	s.spaces.change(pid, m)
}

// command processes a new name of a thread: exec, which begins another program, has such a record
// too.
func (s *survey) command(r record, c *cursor) {
	const exec = 1 << 13 // PERF_RECORD_MISC_COMM_EXEC
	pid, tid := c.u32(), c.u32()
	if c.bad || pid != tid {
		return
	}
	kind := named
	if r.misc&exec != 0 {
		kind, s.spaces.execs = replaced, true
	}
	s.spaces.change(pid, change{time: s.f.timeOf(r), kind: kind})
}

// fork processes the begin of a process. For processes that existed before, the bit exec is set,
// and their mappings are recorded one by one.
func (s *survey) fork(r record, c *cursor) {
	const exec = 1 << 13 // PERF_RECORD_MISC_FORK_EXEC
	pid, parent := c.u32(), c.u32()
	c.skip(8)
	at := change{time: c.u64(), kind: forked, parent: parent}
	if c.bad || pid == parent {
		return // a thread
	}
	if r.misc&exec != 0 {
		at.kind = replaced
	}
	s.spaces.change(pid, at)
}

// piped processes the records that replace the header if perf wrote into a pipe.
func (s *survey) piped(r record, c *cursor) {
	f := s.f
	switch r.kind {
	case recordAttr:
		b := c.b
		c.u32()
		size := int(c.u32())
		if size < oldestAttr || size > len(b) {
			c.bad = true
		} else if len(f.attrs) < mostAttrs {
			f.addAttr(b[:size], b[size:])
		}
	case recordBuildID:
		f.buildID(c, r.misc)
	case recordEventUpdate:
		const name = 2 // PERF_EVENT_UPDATE__NAME
		kind, id := c.u64(), c.u64()
		if i, ok := f.byID[id]; ok && kind == name && len(c.b) > 0 {
			f.attrs[i].name = zeroEnded(c.b)
		}
	case recordFeature:
		n := c.u64()
		c.bad = c.bad || n < 256 && f.feature(int(n), c.b, r.at) != nil
	}
}
