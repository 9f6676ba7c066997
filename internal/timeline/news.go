package timeline

// news has the latest items, so that a page that has the rest can receive only these.
type news struct {
	list  []scope
	first int64 // number of the first in list
	last  int64 // number after the last
}

// newsKept is the number of latest scopes kept: a page that fell further behind loads the
// trace again.
const newsKept = 1 << 18

func (n *news) add(list ...*scope) {
	for _, s := range list {
		if s.flags&flagOpen != 0 {
			continue // listed separately
		}
		n.list = append(n.list, *s)
		n.last++
	}
	if len(n.list) >= 2*newsKept {
		n.drop(len(n.list) - newsKept)
	}
}

func (n *news) drop(count int) {
	n.list = append([]scope(nil), n.list[count:]...)
	n.first += int64(count)
}

// restart makes every page load the trace again.
func (n *news) restart() {
	n.last++
	n.list, n.first = nil, n.last
}

// since returns the items after the cursor; ok is false if these are not available.
func (n *news) since(cursor int64) (list []scope, ok bool) {
	if cursor < n.first || cursor > n.last {
		return nil, false
	}
	return n.list[cursor-n.first:], true
}
