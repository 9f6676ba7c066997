package timeline

// news remembers what came last, so that a page that has the rest can be given
// just that.
type news struct {
	list  []scope
	first int64 // number of the first in list
	last  int64 // number behind the last
}

// newsKept is how many of the latest scopes are remembered: a page that fell
// further behind loads the trace anew.
const newsKept = 1 << 18

func (n *news) add(list ...*scope) {
	for _, s := range list {
		if s.flags&flagOpen != 0 {
			continue // told of apart
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

// restart makes every page load anew.
func (n *news) restart() {
	n.last++
	n.list, n.first = nil, n.last
}

// since is what came after the cursor; ok is false if that is not known.
func (n *news) since(cursor int64) (list []scope, ok bool) {
	if cursor < n.first || cursor > n.last {
		return nil, false
	}
	return n.list[cursor-n.first:], true
}
