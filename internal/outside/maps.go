package outside

import (
	"slices"
	"sort"

	"github.com/scopeview/scopeview/internal/unwind"
)

// space is what a process has mapped: where code of which file lies.
type space struct {
	list  []mapping    // by start, none overlap
	cache unwind.Cache // of the code that is mapped
}

type mapping struct {
	from, to uint64
	offset   uint64 // of from, in the file
	file     string
}

// put maps a file over whatever was there.
func (s *space) put(m mapping) {
	if m.to <= m.from {
		return
	}
	s.cache = unwind.Cache{}
	var list []mapping
	for _, old := range s.list {
		if old.to <= m.from || old.from >= m.to {
			list = append(list, old)
			continue
		}
		if old.from < m.from {
			list = append(list, mapping{old.from, m.from, old.offset, old.file})
		}
		if old.to > m.to {
			list = append(list, mapping{m.to, old.to, old.offset + m.to - old.from, old.file})
		}
	}
	s.list = append(list, m)
	slices.SortFunc(s.list, func(a, b mapping) int {
		if a.from < b.from {
			return -1
		}
		return 1
	})
}

// find returns the file that lies at an address, and the offset in it.
func (s *space) find(pc uint64) (file string, offset uint64) {
	i := sort.Search(len(s.list), func(k int) bool { return s.list[k].to > pc })
	if i == len(s.list) || pc < s.list[i].from {
		return "", 0
	}
	return s.list[i].file, s.list[i].offset + pc - s.list[i].from
}

// copyOf is the space of a process that was forked.
func (s *space) copyOf() *space { return &space{list: slices.Clone(s.list)} }
