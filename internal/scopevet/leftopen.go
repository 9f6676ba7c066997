package scopevet

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/cfg"
)

// leftOpen reports where the thing in h certainly stays open: a block of the function that a
// begin reaches without an end, from which no path leads to an end, and which is reachable
// only from that begin. If the block is also reachable from an end, or from the function's
// entry, a condition may decide on both, as in "if slow { s.End() }; if slow { return }".
func (c *checker) leftOpen(g *cfg.CFG, h *held) {
	if g == nil {
		return
	}
	isDef := func(n ast.Node) bool { _, ok := h.defs[n]; return ok }
	isEnd := func(n ast.Node) bool { return contains(n, h.ends) }
	either := func(n ast.Node) bool { return isDef(n) || isEnd(n) }
	maybe := reached{}
	maybe.walk(g.Blocks[0], 0, isDef)
	maybe.block(g.Blocks[0])
	each(g, isEnd, func(b *cfg.Block, i int) { maybe.walk(b, i+1, isDef) })
	lost := map[*cfg.Block]ast.Node{} // with the begin
	each(g, isDef, func(b *cfg.Block, i int) {
		var open reached
		open.walk(b, i+1, either)
		for at := range open.blocks {
			var on reached
			on.walk(at, 0, either)
			// Where no path continues, the program ends or waits forever.
			goesOn := on.returns || slices.ContainsFunc(on.stops, isDef)
			if goesOn && !slices.ContainsFunc(on.stops, isEnd) && !maybe.blocks[at] {
				lost[at] = b.Nodes[i]
			}
		}
		// The block of the begin may itself qualify.
		var on reached
		on.walk(b, i+1, either)
		if on.returns && len(on.stops) == 0 {
			lost[b] = b.Nodes[i]
		}
	})
	// Of consecutive blocks the last one is reported.
	for _, b := range g.Blocks {
		def := lost[b]
		if def == nil || slices.ContainsFunc(b.Succs, func(next *cfg.Block) bool { return lost[next] != nil }) {
			continue
		}
		t := things[h.defs[def]]
		c.Reportf(last(b), "here %s that %s got on line %d is left behind and %s: call %s first, or defer it",
			t.name, h.v.Name(), c.Fset.Position(def.Pos()).Line, t.never, endOf(h.v))
	}
}

// each calls f for each reachable node of g for which is returns true.
func each(g *cfg.CFG, is func(ast.Node) bool, f func(b *cfg.Block, i int)) {
	for _, b := range g.Blocks {
		for i, n := range b.Nodes {
			if b.Live && is(n) {
				f(b, i)
			}
		}
	}
}

// reached has the blocks reachable from some places.
type reached struct {
	blocks  map[*cfg.Block]bool // reachable from their begins
	returns bool                // one of them returns
	stops   []ast.Node          // nodes at which a path was not followed further
}

func (r *reached) block(b *cfg.Block) {
	if r.blocks == nil {
		r.blocks = map[*cfg.Block]bool{}
	}
	r.blocks[b] = true
}

// walk adds what is reachable from the i-th node of b. A node for which stop returns true
// ends a path.
func (r *reached) walk(b *cfg.Block, i int, stop func(ast.Node) bool) {
	for _, n := range b.Nodes[i:] {
		if stop(n) {
			r.stops = append(r.stops, n)
			return
		}
	}
	r.returns = r.returns || b.Return() != nil
	for _, next := range b.Succs {
		if !r.blocks[next] {
			r.block(next)
			r.walk(next, 0, stop)
		}
	}
}

// last returns the end of the block: its last statement, which the graph may represent as an
// edge.
func last(b *cfg.Block) token.Pos {
	if r := b.Return(); r != nil {
		return r.Pos()
	}
	var list []ast.Stmt
	switch s := b.Stmt.(type) {
	case *ast.IfStmt:
		if b.Kind == cfg.KindIfThen {
			list = s.Body.List
		} else if e, ok := s.Else.(*ast.BlockStmt); ok && b.Kind == cfg.KindIfElse {
			list = e.List
		}
	case *ast.CaseClause:
		list = s.Body
	case *ast.CommClause:
		list = s.Body
	}
	switch {
	case len(list) > 0:
		return list[len(list)-1].Pos()
	case len(b.Nodes) > 0:
		return b.Nodes[len(b.Nodes)-1].Pos()
	}
	return b.Stmt.Pos()
}

// contains reports whether n contains one of the calls.
func contains(n ast.Node, calls map[ast.Node]bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || calls[n]
		return !found
	})
	return found
}
