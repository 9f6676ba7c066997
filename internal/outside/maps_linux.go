package outside

import (
	"slices"
	"sort"
	"strings"

	"github.com/scopeview/scopeview/internal/unwind"
)

// space is what a process has mapped: where code of which file lies.
type space struct {
	program string       // the path of the executable that it runs; "": not known yet
	list    []mapping    // by start, none overlap
	cache   unwind.Cache // of the code that is mapped
}

// mapping is what is still there of code that was mapped.
type mapping struct {
	from, to uint64
	*code
}

// code is what was mapped at one time. A forked process has its parent's.
type code struct {
	from, to  uint64
	offset    uint64 // of from, in the file
	file      string
	inode     uint64 // 0: not known
	time      int64  // ns since 1970: the file may be another one since then
	placement *placement
}

// put maps a file over whatever was there.
func (s *space) put(c *code) {
	if c.to <= c.from {
		return
	}
	s.cache = unwind.Cache{}
	if s.program == "" && strings.HasPrefix(c.file, "/") { // the kernel maps it before its interpreter
		s.program = c.file
	}
	var list []mapping
	for _, old := range s.list {
		if old.to <= c.from || old.from >= c.to {
			list = append(list, old)
			continue
		}
		if old.from < c.from {
			list = append(list, mapping{old.from, c.from, old.code})
		}
		if old.to > c.to {
			list = append(list, mapping{c.to, old.to, old.code})
		}
	}
	s.list = append(list, mapping{c.from, c.to, c})
	slices.SortFunc(s.list, func(a, b mapping) int {
		if a.from < b.from {
			return -1
		}
		return 1
	})
}

// find returns the code that lies at an address; nil: none is known.
func (s *space) find(pc uint64) *code {
	i := sort.Search(len(s.list), func(k int) bool { return s.list[k].to > pc })
	if i == len(s.list) || pc < s.list[i].from {
		return nil
	}
	return s.list[i].code
}

// copyOf is the space of a process that was forked.
func (s *space) copyOf() *space { return &space{program: s.program, list: slices.Clone(s.list)} }
