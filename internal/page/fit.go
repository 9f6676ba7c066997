package page

import (
	"cmp"
	"context"
	"math"

	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// locksMost is how many holds, and changes of how many wait, a file has at most.
const locksMost = 500_000

// packer packs what a file may hold.
type packer struct {
	ctx     context.Context
	t       *trace.Trace
	x       *timeline.Index
	states  *timeline.States  // nil: there are none
	samples *timeline.Samples // nil: there are none
	o       *Options
	summary func() (*timeline.Summary, error)
	doctor  any     // what DoctorSays
	advice  *Advice // nil: there is none

	from, to int64
}

// fit packs as much as the file may hold: scopes and states each as fine as there is
// room for.
func (p *packer) fit() (*timeline.Container, error) {
	p.from, p.to = p.x.Whole()
	if p.o.From > 0 {
		p.from = p.o.From
	}
	if p.o.To > 0 {
		p.to = p.o.To
	}
	c := &timeline.Container{
		Tile: p.tile(p.o.Max), Locks: p.x.LockTile(p.from, p.to, locksMost), States: p.stateTile(p.o.Max),
		Samples: p.samples, Doctor: p.doctor,
	}
	if p.advice != nil {
		c.Advice = p.advice
	}
	for p.ctx.Err() == nil {
		var err error
		if c.Meta, err = p.meta(c); err != nil {
			return nil, err
		}
		if p.o.Large || c.Tile.Res >= coarsest || fits(p.ctx, c, cmp.Or(p.o.limit, sizeLimit)) {
			break
		}
		if s := c.States; s != nil && s.Items > c.Tile.Items && s.Res < coarsest {
			c.States = p.stateTile(c.States.Items * 3 / 4)
			continue
		}
		res := max(2*c.Tile.Res, p.x.ResFor(p.from, p.to, c.Tile.Items*3/4))
		c.Tile = p.x.Tile(p.from, p.to, res)
	}
	return c, p.ctx.Err()
}

// tile packs scopes, in max items at most; 0: in as many as there are.
func (p *packer) tile(max int64) *timeline.Tile {
	res := int64(0)
	if max > 0 {
		res = p.x.ResFor(p.from, p.to, max)
	}
	return p.x.Tile(p.from, p.to, res)
}

// stateTile packs states likewise, of the rows that are in the file.
func (p *packer) stateTile(most int64) *timeline.StateTile {
	if p.states == nil {
		return nil
	}
	if most <= 0 {
		most = math.MaxInt64
	}
	var keep func(uint64) bool
	if !p.o.Names.All() || !p.o.Tracks.All() {
		keep = p.x.Has
	}
	return p.states.Tile(p.from, p.to, p.states.ResFor(p.from, p.to, most), keep)
}

// meta is what is to be said about what the file holds.
func (p *packer) meta(c *timeline.Container) (*timeline.Meta, error) {
	var sum *timeline.Summary
	if c.Tile.Res > 0 {
		var err error
		if sum, err = p.summary(); err != nil {
			return nil, err
		}
	}
	res := int64(0)
	if c.States != nil {
		res = c.States.Res
	}
	meta := p.x.Meta(p.t, timeline.MetaOptions{
		StateRes: res,
		Tool:     p.o.Tool, Path: p.o.Path, Writer: p.o.Writer, Tile: c.Tile, Part: p.o.part(), States: p.states,
		More: "To see all of it: scopeview serve, or a part of it: scopeview html with --from and --to.",
	})
	meta.Summary = sum
	return meta, nil
}

// coarsest is a resolution beyond which nothing gets smaller.
const coarsest = 1 << 61

// fits reports whether a page with c is small enough.
func fits(ctx context.Context, c *timeline.Container, limit int64) bool {
	p, err := parts()
	if err == nil && int64(len(p.head)+len(p.body))+c.RawSize()/3*4 < limit*9/10 {
		return true // even if nothing could be packed
	}
	n := &counter{left: limit}
	return write(untilDone{ctx, n}, Config{Home: HomeFile}, level, c) == nil
}
