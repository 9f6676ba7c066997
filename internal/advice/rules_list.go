package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var listRules = []Rule{
	{ID: "list-to-slice", Original: "LIST_TO_VECTOR", Group: Containers, Kinds: []row.Kind{row.List}, Judge: listToSlice},
	{ID: "list-to-slist", Original: "LIST_TO_SLIST", Group: Containers, Kinds: []row.Kind{row.List}, Judge: listToSlist},
}

// rareEdit is the maximum share of edits in the middle of a list that a slice can replace:
// with more, the slice would move elements all the time.
const rareEdit = 0.01

// cached is the size in bytes of nodes that fit into the caches.
const cached = 16 << 20

// listed sums up the use of a list.
type listed struct {
	puts, middle, rear float64 // insertions, edits in the middle, removals at the end
	node               float64 // bytes of a node, with its boxed value
	allocs             float64 // per node
}

func listOf(r *Row) (l listed) {
	l.puts = r.V(row.Puts)
	if l.puts == 0 {
		return l
	}
	l.middle = r.V(row.Middle) + r.V(row.RemovedMiddle) + r.V(row.Moved)
	l.rear = r.V(row.Deletes) - r.V(row.RemovedFront) - r.V(row.RemovedMiddle)
	l.node = r.V(row.AllocBytes) / l.puts
	l.allocs = 1
	if l.node > listNode {
		l.allocs = 2
	}
	return l
}

// listNode is the allocated size of a node of container/list.
const listNode = 48

// listToSlice: without edits in the middle a slice, or a ring buffer, does the same without
// an allocation per element, and walks follow no pointers.
func listToSlice(r *Row, w Weights) (j Judgement) {
	l := listOf(r)
	edits := l.puts + r.V(row.Deletes) + r.V(row.Moved)
	if l.puts == 0 || l.middle > rareEdit*edits || !own(r) {
		return j
	}
	steps := r.V(row.Steps) + r.V(row.Backward)
	step := w[listStep]
	if float64(r.Stats.V[row.MaxLen])*l.node > cached {
		step = w[listStepFar]
	}
	elem := max(r.V(row.MaxElem), 1)
	saved := l.node - elem
	queue := r.V(row.Back) > 0 && r.V(row.RemovedFront) > l.rear || r.V(row.Front) > 0 && l.rear > r.V(row.RemovedFront)
	put := w[appended]
	if queue {
		put = 2 * w[ring]
	}
	j.NS = l.puts*(l.allocs*w[alloc]+saved*w[allocByte]-put) + steps*(step-w[sliceStep])
	j.Bytes = l.puts * saved
	j.Ops = l.puts*l.node/8 + steps
	to := fmt.Sprintf("a []%s", r.Type)
	switch {
	case queue && r.V(row.Front) > 0 && r.V(row.Back) > 0:
		to = fmt.Sprintf("a ring buffer of %s, open at both ends (a deque),", r.Type)
	case queue:
		to = fmt.Sprintf("a ring buffer of %s, or a slice that is appended to and cut in front,", r.Type)
	case r.V(row.Deletes) > 0:
		to = fmt.Sprintf("a []%s, appended to and cut at its end,", r.Type)
	}
	j.Advice = fmt.Sprintf("%s instead of container/list saves %s and %s, as all operations are at the ends", to, show.Plural(l.puts*l.allocs, "allocation"), show.Either(steps, "step over pointers", "steps over pointers"))
	j.Evidence = listUse(r)
	if l.middle > 0 {
		j.Stoppers = append(j.Stoppers, fmt.Sprintf("%s in the middle: a slice moves the elements behind", show.Plural(l.middle, "edit")))
	}
	if r.V(row.Front) > 0 && !queue {
		j.Stoppers = append(j.Stoppers, "elements are added in front: append them, and walk the slice backwards")
	}
	return j
}

// listToSlist: a list that is edited in the middle, and never walked backwards, needs only
// one pointer.
func listToSlist(r *Row, w Weights) (j Judgement) {
	l := listOf(r)
	edits := l.puts + r.V(row.Deletes) + r.V(row.Moved)
	if l.puts == 0 || l.middle <= rareEdit*edits || r.V(row.Backward) > 0 || r.V(row.Moved) > 0 || l.rear > 0 || !own(r) {
		return j
	}
	node := sizeClass(8 + r.V(row.MaxElem))
	j.Bytes = l.puts * (l.node - node)
	j.NS = l.puts*(l.allocs-1)*w[alloc] + j.Bytes*w[allocByte]
	j.Ops = j.Bytes / 8
	if j.Bytes <= 0 {
		return Judgement{}
	}
	j.Advice = fmt.Sprintf("a list of nodes {next; value %s} takes %s an element instead of %s: it is never walked backwards", r.Type, show.Size(node), show.Size(l.node))
	j.Evidence = listUse(r)
	if r.V(row.RemovedMiddle) > 0 {
		j.Stoppers = append(j.Stoppers, fmt.Sprintf("%s from the middle: such a list removes only the element behind a known one", show.Either(r.V(row.RemovedMiddle), "element is removed", "elements are removed")))
	}
	return j
}

// sizeClass returns the size that Go's allocator uses for up to 128 bytes.
func sizeClass(n float64) float64 {
	for _, size := range [...]float64{8, 16, 24, 32, 48, 64, 80, 96, 112, 128} {
		if n <= size {
			return size
		}
	}
	return n
}

// listUse describes the use of a list.
func listUse(r *Row) []string {
	rear := r.V(row.Deletes) - r.V(row.RemovedFront) - r.V(row.RemovedMiddle)
	return []string{
		fmt.Sprintf("%s, of up to %s elements each", show.Plural(r.V(row.Made), "list"), show.Count(r.Stats.V[row.MaxLen])),
		fmt.Sprintf("put in: %s in front, %s at the end, %s in the middle; removed: %s, %s, %s; moved: %s",
			show.Count(r.V(row.Front)), show.Count(r.V(row.Back)), show.Count(r.V(row.Middle)), show.Count(r.V(row.RemovedFront)), show.Count(rear), show.Count(r.V(row.RemovedMiddle)), show.Count(r.V(row.Moved))),
		fmt.Sprintf("walked: %s forward, %s backwards", show.Plural(r.V(row.Steps), "step"), show.Count(r.V(row.Backward))),
	}
}
