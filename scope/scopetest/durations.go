package scopetest

import (
	"errors"
	"fmt"
	"os"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// durations collects the durations of the scopes in a trace that this process has just closed.
type durations struct {
	ns   map[string][]int64 // of ended scopes, by name
	lost int64              // lost records

	names   map[uint16]string
	ticks   map[uint16][]int64
	open    map[format.Loc]format.Record // scopes whose record has no end
	ends    map[format.Loc]int64         // ends apart
	last    format.Calib
	records []byte // of one chunk
}

// readDurations reads the trace at path. Unlike the tools' reader it does not sort, so it needs
// only 8 bytes of memory per scope.
func readDurations(path string) (*durations, error) {
	d := &durations{ns: map[string][]int64{}, names: map[uint16]string{format.NameOther: format.OtherNames}, ticks: map[uint16][]int64{}, open: map[format.Loc]format.Record{}, ends: map[format.Loc]int64{}}
	if err := d.read(path); err != nil {
		return nil, fmt.Errorf("reading the benchmark's trace: %s: %w", path, err)
	}
	return d, nil
}

func (d *durations) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, format.StateOffset+format.StateSize)
	n, err := chunks.ReadFull(f, head, 0)
	if err != nil {
		return err
	}
	h, s, err := format.DecodeHeader(head[:n])
	if err != nil {
		return err
	}
	if !s.Closed || h.Ring != 0 {
		return errors.New("it was not closed")
	}
	d.lost, d.records = s.Lost, make([]byte, h.ChunkSize)
	file := chunks.Of(f, st.Size(), &h, &s)
	if err := file.Each(file.Chunk, s.End, func(at int64) (born bool, err error) { return d.chunk(&file, at) }); err != nil {
		return err
	}
	for loc, r := range d.open {
		if stop, ok := d.ends[loc]; ok {
			d.add(&r, stop)
		}
	}
	d.convert(&h)
	return nil
}

// chunk reads the chunk at a place, if there is one.
func (d *durations) chunk(file *chunks.File, at int64) (born bool, err error) {
	c, born, bad, err := file.ReadChunk(d.records, at)
	if err = errors.Join(bad, err); !born || err != nil {
		return born, err
	}
	switch c.Kind {
	case format.ChunkRecords:
		for w := c.Records(); w.Next(); {
			d.record(&w, at)
		}
	case format.ChunkBlocks:
		for w := c.Blocks(); w.Next(); {
			if w.Err == nil {
				d.block(w.Type, w.Payload)
			}
		}
	}
	return born, nil
}

func (d *durations) record(w *format.Walk, at int64) {
	r := w.Record()
	switch r.Kind() {
	case format.KindTask, format.KindTaskf, format.KindProcess:
		if r.Open() {
			d.open[format.Loc(at+int64(w.Off))] = r
		} else {
			d.add(&r, r.Stop)
		}
	case format.KindEnd:
		if loc, ok := w.Begin(); ok {
			d.ends[loc] = r.Start
		}
	}
}

func (d *durations) add(r *format.Record, stop int64) {
	d.ticks[r.Name()] = append(d.ticks[r.Name()], max(stop-r.Start, 0))
}

func (d *durations) block(t format.BlockType, payload []byte) {
	switch t {
	case format.BlockName:
		if id, text, err := format.DecodeName(payload); err == nil {
			d.names[id] = string(text)
		}
	case format.BlockCalib:
		if c, err := format.DecodeCalib(payload); err == nil && c.Ticks > d.last.Ticks {
			d.last = c
		}
	}
}

// convert converts ticks to nanoseconds, at the rate measured over the whole recording if that
// was long enough.
func (d *durations) convert(h *format.Header) {
	rate := 1e9 / float64(h.TickRate)
	if h.Clock == format.ClockMonotonic {
		rate = 1
	} else if ticks := d.last.Ticks - h.StartTicks; ticks > h.TickRate/10 {
		rate = float64(d.last.Mono-h.StartMono) / float64(ticks)
	}
	for id, list := range d.ticks {
		for i, t := range list {
			list[i] = int64(float64(t) * rate)
		}
		d.ns[d.names[id]] = append(d.ns[d.names[id]], list...)
	}
}
