package outside

import (
	"slices"
	"sort"
	"strings"

	"github.com/scopeview/scopeview/internal/unwind"
)

// space has the mappings of code of a process.
type space struct {
	program string       // the path of its executable; "": not known yet
	list    []mapping    // by start, none overlap
	cache   unwind.Cache // for the mapped code
}

// mapping is the remaining part of a code mapping.
type mapping struct {
	from, to uint64
	*code
}

// code is a mapping as it was made. A forked process has its parent's.
type code struct {
	from, to  uint64
	offset    uint64 // of from, in the file
	file      string
	inode     uint64 // 0: unknown
	time      int64  // ns since 1970: the file may have been replaced since then
	placement *placement
}

// put adds a mapping over whatever was there.
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

// find returns the code at an address, or nil if it is unknown.
func (s *space) find(pc uint64) *code {
	i := sort.Search(len(s.list), func(k int) bool { return s.list[k].to > pc })
	if i == len(s.list) || pc < s.list[i].from {
		return nil
	}
	return s.list[i].code
}

// copyOf returns the space of a forked process.
func (s *space) copyOf() *space { return &space{program: s.program, list: slices.Clone(s.list)} }
