package source

import (
	"cmp"
	"slices"
)

// anchor is a line of a function of the profile, with its callees.
type anchor struct {
	offset  int
	callees []string // as the profile has them
}

// maxCells limits the size of the table that lcs fills.
const maxCells = 1 << 22

// lcs pairs two sequences so that the pairs do not cross and the sum of their scores is
// maximal; score 0 is no pair. It returns the partner of each element of the first
// sequence, or -1.
func lcs(n, m int, score func(i, j int) int64) []int {
	pairs := make([]int, n)
	for i := range pairs {
		pairs[i] = -1
	}
	if n == 0 || m == 0 || n > maxCells/m {
		return pairs
	}
	scores := make([]int64, n*m)
	best := make([]int64, (n+1)*(m+1))
	width := m + 1
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			s := score(i, j)
			scores[i*m+j] = s
			b := max(best[(i+1)*width+j], best[i*width+j+1])
			if s > 0 {
				b = max(b, s+best[(i+1)*width+j+1])
			}
			best[i*width+j] = b
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		b, s := best[i*width+j], scores[i*m+j]
		switch {
		case s > 0 && b == s+best[(i+1)*width+j+1]:
			pairs[i] = j
			i, j = i+1, j+1
		case b == best[(i+1)*width+j]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// far separates scores from distances: of two pairs with one score, the nearer lines win.
const far = 1 << 20

func near(score int64, distance int) int64 {
	if score == 0 {
		return 0
	}
	return score*far - int64(min(max(distance, -distance), far/2))
}

// lines returns the calls of f by their offset.
func (f *fn) lines() [][]*call {
	var sorted []*call
	for i := range f.calls {
		if !f.calls[i].deferred {
			sorted = append(sorted, &f.calls[i])
		}
	}
	slices.SortStableFunc(sorted, func(a, b *call) int { return cmp.Compare(a.offset, b.offset) })
	var lines [][]*call
	for i, c := range sorted {
		if i == 0 || c.offset != sorted[i-1].offset {
			lines = append(lines, nil)
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], c)
	}
	return lines
}

// evidence weighs the kinds of calls that can reach a callee.
var evidence = [...]int64{direct: 4, byInterface: 3, byValue: 1}

// reach returns the evidence that the calls of a line reach a callee; 0: they can't. The
// caller may have several instantiations: any of them counts.
func (v *salvager) reach(line []*call, callee string) int64 {
	best := int64(0)
	to := v.target(callee)
	for _, c := range line {
		if to != "" && evidence[c.kind] > best && v.s.reaches(c, "[...]", to) {
			best = evidence[c.kind]
		}
	}
	return best
}

// align returns for each anchor the index of its line in the source, or -1.
func (v *salvager) align(anchors []anchor, lines [][]*call) []int {
	shift := v.shifts(anchors, lines)
	return lcs(len(anchors), len(lines), func(i, j int) int64 {
		sum := int64(0)
		for _, callee := range anchors[i].callees {
			sum += v.reach(lines[j], callee)
		}
		return near(sum, lines[j][0].offset-anchors[i].offset-shift[i])
	})
}

// shifts returns by how many lines each anchor seems to have moved: as many as the nearest
// anchor before it with a callee that is called from only one line, in the profile and in
// the source.
func (v *salvager) shifts(anchors []anchor, lines [][]*call) []int {
	only := onlyLines(lines)
	count := map[string]int{}
	for _, a := range anchors {
		for _, callee := range a.callees {
			count[callee]++
		}
	}
	firm := lcs(len(anchors), len(lines), func(i, j int) int64 {
		for _, callee := range anchors[i].callees {
			if k, ok := only[fold(v.target(callee))]; ok && k == j && count[callee] == 1 {
				return 1
			}
		}
		return 0
	})
	shift := make([]int, len(anchors))
	now, known := 0, false
	for i, j := range firm {
		if j >= 0 {
			now = lines[j][0].offset - anchors[i].offset
			for k := 0; !known && k < i; k++ {
				shift[k] = now
			}
			known = true
		}
		shift[i] = now
	}
	return shift
}

// onlyLines returns, by function, the only line that calls it, or -1 if there are several.
func onlyLines(lines [][]*call) map[string]int {
	only := map[string]int{}
	for j, line := range lines {
		for _, c := range line {
			if c.kind != direct || c.callee == "" {
				continue
			}
			if k, ok := only[c.callee]; ok && k != j {
				only[c.callee] = -1
			} else {
				only[c.callee] = j
			}
		}
	}
	return only
}

// offsets returns the new offsets of the anchors' calls, by anchor and callee. A call
// without an aligned line gets the only line that calls its callee, if there is one.
func (v *salvager) offsets(anchors []anchor, f *fn) map[site]int {
	lines := f.lines()
	to := map[site]int{}
	taken := map[site]bool{} // in the source
	for i, j := range v.align(anchors, lines) {
		for _, callee := range anchors[i].callees {
			if j >= 0 && v.reach(lines[j], callee) > 0 {
				to[site{anchors[i].offset, callee}] = lines[j][0].offset
				taken[site{lines[j][0].offset, callee}] = true
			}
		}
	}
	for _, a := range anchors {
		for _, callee := range a.callees {
			if _, ok := to[site{a.offset, callee}]; ok {
				continue
			}
			if at, ok := v.onlyLine(lines, callee); ok && !taken[site{at, callee}] {
				to[site{a.offset, callee}] = at
				taken[site{at, callee}] = true
			}
		}
	}
	return to
}

// onlyLine returns the offset of the line that calls a function directly, if there is
// exactly one.
func (v *salvager) onlyLine(lines [][]*call, callee string) (offset int, ok bool) {
	for _, line := range lines {
		if v.reach(line, callee) != evidence[direct] {
			continue
		}
		if ok {
			return 0, false
		}
		offset, ok = line[0].offset, true
	}
	return offset, ok
}
