package perf

import (
	"encoding/binary"
	"slices"
	"testing"
)

const us = 42 // the process

// raw returns a record as the kernel writes it.
func raw(typ Kind, misc uint16, pid, tid uint32, time, event uint64, body ...byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(typ))
	b = le.AppendUint16(b, misc)
	b = le.AppendUint16(b, uint16(headSize+len(body)+tailSize))
	b = append(b, body...)
	b = le.AppendUint32(b, pid)
	b = le.AppendUint32(b, tid)
	b = le.AppendUint64(b, time)
	b = le.AppendUint64(b, 3) // the CPU
	return le.AppendUint64(b, event)
}

// task returns the body of a fork or an exit.
func task(pid, tid uint32) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, pid)
	b = le.AppendUint32(b, pid)
	b = le.AppendUint32(b, tid)
	b = le.AppendUint32(b, 1)
	return le.AppendUint64(b, 0)
}

func TestParse(t *testing.T) {
	lost := binary.LittleEndian.AppendUint64(make([]byte, 8), 17)
	for _, c := range []struct {
		name string
		raw  [][]byte
		want []record
		lost int64
	}{
		{"on and off", [][]byte{
			raw(KindSwitch, 0, us, 7, 100, 1), raw(KindSwitch, miscOut, us, 7, 200, 1),
			raw(KindSwitch, 0, us, 7, 300, 1), raw(KindSwitch, miscOut|miscPreempt, us, 7, 400, 1),
		}, []record{{100, 7, in}, {200, 7, out}, {300, 7, in}, {400, 7, preempted}}, 0},
		{"a thread with two events", [][]byte{
			raw(KindSwitch, 0, us, 7, 100, 1), raw(KindSwitch, 0, us, 7, 101, 2),
			raw(KindSwitch, miscOut, us, 7, 200, 2), raw(KindSwitch, miscOut, us, 7, 201, 1),
		}, []record{{100, 7, in}, {201, 7, out}}, 0},
		{"a child process, whose threads are not ours", [][]byte{
			raw(KindFork, 0, us, 7, 100, 1, task(43, 43)...), raw(KindSwitch, 0, 43, 43, 110, 1),
			raw(kindExit, 0, 43, 43, 120, 1, task(43, 43)...), raw(KindSwitch, 0, us, 7, 130, 1),
		}, []record{{130, 7, in}}, 0},
		{"a thread's life, and another's with its number", [][]byte{
			raw(KindFork, 0, us, 7, 100, 1, task(us, 8)...), raw(KindSwitch, 0, us, 8, 110, 1),
			raw(kindExit, 0, us, 8, 120, 1, task(us, 8)...), raw(KindSwitch, 0, us, 8, 130, 2),
		}, []record{{100, 8, born}, {110, 8, in}, {120, 8, died}, {130, 8, in}}, 0},
		{"page faults, of data and of text", [][]byte{
			raw(KindSwitch, 0, us, 7, 100, 1), words(KindSample, 2, 1, 0x500, pair(us, 7), 110, 0x9000, 3),
			words(KindSample, 2, 1, 0x500, pair(us, 7), 120, 0x500, 3),
			words(KindSample, 2, 1, 0x500, pair(us, 7), 121, 0x50e, 3, 0, 0), // an instruction continues there; with room for callers
			words(KindSample, 2, 1, 0x500, pair(us, 7), 122, 0x50f, 3), words(KindSample, 2, 1, 0x500, pair(us, 7), 123, 0x4ff, 3),
			words(KindSample, 2, 1, 0x500, pair(us, 7), 124, 0x4ff),    // cut off
			words(KindSample, 2, 2, 0x500, pair(us, 7), 125, 0x500, 3), // with another event's id
			words(KindSample, 2, 1, 0x500, pair(43, 8), 130, 0x500, 3), // a child process
		}, []record{{100, 7, in}, {110, 7, dataFault}, {120, 7, textFault}, {121, 7, textFault}, {122, 7, dataFault}, {123, 7, dataFault}, {125, 7, textFault}}, 0},
		{"lost ones are counted", [][]byte{raw(KindLost, 0, us, 7, 100, 1, lost...)}, nil, 17},
		{"others are left out", [][]byte{raw(99, 0, us, 7, 100, 1), raw(KindSwitch, 0, us, 7, 130, 1)}, []record{{130, 7, in}}, 0},
		{"what is no record ends it", [][]byte{raw(KindSwitch, 0, us, 7, 130, 1), make([]byte, 40), raw(KindSwitch, 0, us, 7, 140, 1)}, []record{{130, 7, in}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stream{pid: us, from: map[uint32]uint64{}}
			got := s.parse(nil, slices.Concat(c.raw...))
			if !slices.Equal(got, c.want) || s.lost != c.lost {
				t.Errorf("got %v and %d lost, want %v and %d", got, s.lost, c.want, c.lost)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add(raw(KindSwitch, miscOut, us, 7, 100, 1))
	f.Add(raw(KindFork, 0, us, 7, 100, 1, task(us, 8)...))
	f.Add(raw(KindFork, 0, us, 7, 100, 1))
	f.Add(raw(KindLost, 0, us, 7, 100, 1)[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		s := stream{pid: us, from: map[uint32]uint64{}}
		list := s.parse(nil, b)
		if len(list) > len(b)/(headSize+tailSize) {
			t.Errorf("%d records in %d bytes", len(list), len(b))
		}
		k := newKept(t)
		ts := threadsInto(k)
		for i := range list {
			if list[i].time >= 0 && list[i].time < 1<<59 {
				ts.add(&list[i])
			}
		}
		ts.flush(1<<59, true)
	})
}
