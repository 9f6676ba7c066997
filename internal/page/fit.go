package page

import (
	"cmp"
	"context"
	"encoding/base64"
	"io"
	"math"

	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// locksMost is the maximum number of holds, and changes of numbers of waiters, in a file.
const locksMost = 500_000

// packer packs the content of a file.
type packer struct {
	ctx     context.Context
	t       *trace.Trace
	x       *timeline.Index
	states  *timeline.States  // nil: none
	samples *timeline.Samples // nil: none
	o       *Options
	summary func() (*timeline.Summary, error)
	doctor  any     // result of DoctorSays
	advice  *Advice // nil: none

	from, to int64
}

// fit packs as much as the file may hold: scopes and states each as finely as possible.
func (p *packer) fit() (*payload, error) {
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
	all := &payload{Container: c}
	for p.ctx.Err() == nil {
		var err error
		if c.Meta, err = p.meta(c); err != nil {
			return nil, err
		}
		if p.o.Large || c.Tile.Res >= coarsest || all.fits(p.ctx, cmp.Or(p.o.limit, sizeLimit)) {
			break
		}
		if s := c.States; s != nil && s.Items > c.Tile.Items && s.Res < coarsest {
			c.States = p.stateTile(c.States.Items * 3 / 4)
			continue
		}
		res := max(2*c.Tile.Res, p.x.ResFor(p.from, p.to, c.Tile.Items*3/4))
		c.Tile = p.x.Tile(p.from, p.to, res)
	}
	return all, p.ctx.Err()
}

// tile packs scopes, in at most max items; 0: no limit.
func (p *packer) tile(max int64) *timeline.Tile {
	res := int64(0)
	if max > 0 {
		res = p.x.ResFor(p.from, p.to, max)
	}
	return p.x.Tile(p.from, p.to, res)
}

// stateTile packs states likewise, for the rows that are in the file.
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

// meta returns the facts about the file's content.
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
		Tool:     p.o.Tool, Path: p.o.Path, Writer: p.o.Writer, Tile: c.Tile, Part: p.o.Part(), States: p.states,
		More: "To see all of it: scopeview serve, or a part of it: scopeview html with --from and --to.",
	})
	meta.Summary = sum
	return meta, nil
}

// coarsest is a resolution beyond which nothing gets smaller.
const coarsest = 1 << 61

// payload is a page's data of a trace.
type payload struct {
	*timeline.Container
	deflated kept // empty: it is deflated when it is written
}

// to writes it. It reuses the deflated bytes of fits, if there are any.
func (p *payload) to(w io.Writer) error {
	if len(p.deflated) == 0 {
		return p.WriteTo(w, level)
	}
	for _, b := range p.deflated {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether a page with it is small enough.
func (p *payload) fits(ctx context.Context, limit int64) bool {
	page, err := parts()
	if err == nil && int64(len(page.head)+len(page.body))+p.RawSize()/3*4 < limit*9/10 {
		return true // even without compression
	}
	p.deflated = nil
	n := &counter{left: limit}
	var all kept
	if p.WriteTo(untilDone{ctx, io.MultiWriter(&all, base64.NewEncoder(base64.StdEncoding, n))}, level) != nil {
		return false
	}
	p.deflated = all
	return write(untilDone{ctx, &counter{left: limit}}, Config{Home: HomeFile}, p) == nil
}

// kept collects written bytes in pieces, which are not copied as it grows.
type kept [][]byte

const keptPiece = 1 << 20

func (k *kept) Write(p []byte) (int, error) {
	n := len(*k)
	if n == 0 || cap((*k)[n-1])-len((*k)[n-1]) < len(p) {
		*k = append(*k, make([]byte, 0, max(keptPiece, len(p))))
		n++
	}
	(*k)[n-1] = append((*k)[n-1], p...)
	return len(p), nil
}
