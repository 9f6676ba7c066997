package bulk

import (
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// names are sorted by their ids, from format.FirstName on: the 12 of ordinary scopes, then
// others.
var names = []string{
	"parse", "store.read", "bytes", "http.serve", "auth", "cache.get", "db.query", "encode", "log", "compress", "render", "flush",
	"connection", "job", "worker 1", "worker 2", "worker 3", "worker 4",
}

// Ids of special names.
const (
	nameConnection = format.FirstName + 12 // of scopes across everything
	nameJob        = nameConnection + 1    // across some windows
	nameWorker     = nameJob + 1           // of the first row
)

// block is a type and a payload.
type block struct {
	kind    format.BlockType
	payload []byte
}

// blocks builds a chunk of blocks.
func (p *plan) blocks(b []byte, h *format.ChunkHeader, list []block) {
	h.Kind, h.Path, h.Since, h.Gen = format.ChunkBlocks, format.PathAssembly, p.started, 1
	h.Flags |= format.FlagFinal
	c := chunks.NewBuilder(format.ChunkSize, *h)
	for _, x := range list {
		c.Block(x.kind, x.payload)
	}
	copy(b, c.Build())
}

// facts returns the blocks that occur once.
func (p *plan) facts() (list []block) {
	for i, name := range names {
		list = append(list, block{format.BlockName, format.AppendName(nil, uint16(format.FirstName+i), name)})
	}
	for _, f := range [][2]string{{"program", "/bulk/" + string(p.Shape)}, {"go", "go1.26"}, {"os", "linux"}, {"arch", "amd64"}} {
		list = append(list, block{format.BlockInfo, format.AppendInfo(nil, f[0], f[1])})
	}
	return list
}

func (p *plan) stop() block {
	return block{format.BlockStop, binary.LittleEndian.AppendUint64(nil, uint64(p.end()+1))}
}

// calibs returns the clock readings, one per second, or fewer where that would be too many
// for a chunk. The rate in the header is slightly wrong, and the readings have some error.
func (p *plan) calibs() (list []block) {
	step := max(p.rate, (p.end()-p.started)/512)
	for n := int64(0); n*step < p.end()-p.started; n++ {
		ticks := p.started + n*step + 1000
		mono := int64(float64(ticks-p.started)*1e9/float64(p.rate)*(1+3e-6)) + n*n%7 + 5e9
		list = append(list, block{format.BlockCalib, format.AppendCalib(nil, &format.Calib{Ticks: ticks, Mono: mono, Wall: 1_700_000_000e9 + mono - 5e9, Bracket: 60})})
	}
	return list
}

// carry is a scope whose begin was overwritten by the ring.
type carry struct {
	loc    format.Loc
	record format.Record
	chunk  int64 // chunk with its separate end; -1: none
}

// carries returns the carried scopes of a Ring.
func (p *plan) carries() (list []carry) {
	if p.Shape != Ring {
		return nil
	}
	for j := range int64(2 * owners) {
		c := carry{
			loc: format.Loc((5+j)*format.ChunkSize + format.ChunkHeaderSize + 32*(1+j)),
			record: format.Record{
				Start: p.started + 2e6 + j, Stop: format.OpenStop(thread(j%owners), 7, 9) | format.ApartBit,
				Head: format.Head(uint64(1000+j), format.KindTask, false, nameConnection),
			},
			chunk: -1,
		}
		if j < owners && j < p.chunks {
			c.chunk = p.lastOf(j)
		}
		list = append(list, c)
	}
	return list
}

func (p *plan) carryBlocks() (list []block) {
	add := func(j int64, loc format.Loc, r format.Record) {
		list = append(list, block{format.BlockCarry, format.AppendCarry(nil, &format.Carry{
			Ticks: p.begin - 1, Loc: loc, Thread: thread(j % owners), Owner: uint32(j % owners), Record: r,
		})})
	}
	for j, c := range p.carries() {
		add(int64(j), c.loc, c.record)
	}
	for j := range int64(owners) { // names of the first rows
		add(j, format.Loc((1+j)*format.ChunkSize+format.ChunkHeaderSize+32), format.Record{
			Start: p.started + 1e6 + j, Head: format.Head(goroutine(int(j)), format.KindTrack, false, uint16(nameWorker+j)),
		})
	}
	return list
}
