package perfdata

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// object is a file that processes mapped.
type object struct {
	path, id string // id is its build id in hexadecimal; "": unknown
}

// change is a change of a process's mappings.
type change struct {
	time   uint64
	kind   changeKind
	from   uint64 // for a mapping: its addresses, and the file's offset at from
	to     uint64
	offset uint64
	object int32
	parent uint32 // for a fork
}

type changeKind uint8

const (
	mapped   changeKind = iota
	replaced            // by exec: nothing is mapped
	forked              // the parent's mappings are inherited
	named               // by exec, or by the process itself
)

// process has all changes of a process, by time.
type process struct{ changes []change }

// spaces holds the address spaces of processes, at any time.
type spaces struct {
	procs   map[uint32]*process
	objects []object
	ids     map[object]int32
	left    int64 // number of mappings beyond the limit
	execs   bool  // the file marks which names are by exec
	found   map[page]*change
	began   map[page]int32 // programs, by page 0
}

// page is a page of a process's memory, before the change with that index.
type page struct {
	p      *process
	before int
	page   uint64
}

const (
	// mostChanges limits the changes of a process. Only just-in-time compilers come near.
	mostChanges = 1 << 16
	// deepestForks limits how many ancestors are searched for a mapping.
	deepestForks = 64
	mostFound    = 1 << 20 // pages that are cached
	pageBits     = 12
)

func newSpaces() *spaces {
	return &spaces{procs: map[uint32]*process{}, ids: map[object]int32{}, found: map[page]*change{}, began: map[page]int32{}}
}

func (s *spaces) process(pid uint32) *process {
	p := s.procs[pid]
	if p == nil {
		p = &process{}
		s.procs[pid] = p
	}
	return p
}

func (s *spaces) change(pid uint32, c change) {
	p := s.process(pid)
	if len(p.changes) >= mostChanges {
		s.left++
		return
	}
	p.changes = append(p.changes, c)
}

// object returns the index of a file.
func (s *spaces) object(path, id string) int32 {
	o := object{path, id}
	i, ok := s.ids[o]
	if !ok {
		i = int32(len(s.objects))
		s.ids[o] = i
		s.objects = append(s.objects, o)
	}
	return i
}

// sort must be called when all changes are added. Changes at the same time keep the file's order.
func (s *spaces) sort() {
	for _, p := range s.procs {
		slices.SortStableFunc(p.changes, func(a, b change) int { return cmp.Compare(a.time, b.time) })
	}
	if s.execs {
		return
	}
	for _, p := range s.procs {
		s.findExecs(p)
	}
}

// mapsOfExec is the maximum number of recorded mappings that exec makes: the program's, its
// interpreter's and the kernel's own.
const mapsOfExec = 8

// mostNames limits how many names of a process are examined, since each examination goes through
// all earlier mappings.
const mostNames = 1 << 10

// findExecs determines which names of a process are by exec. Linux marks them since 3.16. For older
// files, a name is by exec if the kernel's own code is mapped right after it, or a file over the
// program: a process that names itself and then opens a library does neither.
func (s *spaces) findExecs(p *process) {
	name, names, maps := -1, 0, 0
	for i := range p.changes {
		switch c := &p.changes[i]; {
		case c.kind == named && names < mostNames:
			name, maps = i, 0
			names++
		case c.kind != mapped || name < 0:
			name = -1
		case s.objects[c.object].path == "[vdso]", maps == 0 && s.overProgram(p, name, c):
			p.changes[name].kind, name = replaced, -1
		default:
			if maps++; maps == mapsOfExec {
				name = -1
			}
		}
	}
}

// overProgram reports whether a mapping covers the program that a process was before its n-th
// change.
func (s *spaces) overProgram(p *process, n int, over *change) bool {
	var program *change
	s.back(p, n, func(c *change) bool {
		if isFile(s.objects[c.object].path) {
			program = c
		}
		return true
	})
	return program != nil && isFile(s.objects[over.object].path) && over.from < program.to && program.from < over.to
}

// until returns the number of changes up to a time.
func (p *process) until(time uint64) int {
	return sort.Search(len(p.changes), func(i int) bool { return p.changes[i].time > time })
}

// at returns the mapping that contains an address of a process at a time, or nil.
func (s *spaces) at(pid uint32, addr, time uint64) *change {
	p := s.procs[pid]
	if p == nil {
		return nil
	}
	key := page{p, p.until(time), addr >> pageBits}
	if c, ok := s.found[key]; ok && (c == nil || addr >= c.from && addr < c.to) {
		return c
	}
	var found *change
	s.back(p, key.before, func(c *change) bool {
		if c.kind == mapped && addr >= c.from && addr < c.to {
			found = c
		}
		return found == nil
	})
	if len(s.found) >= mostFound {
		clear(s.found)
	}
	s.found[key] = found
	return found
}

// back calls f with the changes of a process before its n-th one, back to its begin, the newest
// first, until f returns false. For a forked process it continues with its parents.
func (s *spaces) back(p *process, n int, f func(*change) bool) {
	for range deepestForks {
		fork := (*change)(nil)
		for n--; n >= 0 && fork == nil; n-- {
			c := &p.changes[n]
			if c.kind == replaced || c.kind == mapped && !f(c) {
				return
			}
			if c.kind == forked {
				fork = c
			}
		}
		if fork == nil || s.procs[fork.parent] == nil {
			return
		}
		p = s.procs[fork.parent]
		n = p.until(fork.time)
	}
}

// program returns the executable of a process at a time, the first file that it mapped, or -1 if
// unknown.
func (s *spaces) program(pid uint32, time uint64) int32 {
	p := s.procs[pid]
	if p == nil {
		return -1
	}
	key := page{p: p, before: p.until(time)}
	first, ok := s.began[key]
	if !ok {
		first = -1
		s.back(p, key.before, func(c *change) bool {
			if isFile(s.objects[c.object].path) {
				first = c.object
			}
			return true
		})
		s.began[key] = first
	}
	return first
}

// isFile reports whether a mapping is of a file, and not created by the kernel.
func isFile(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "/memfd:") && !strings.HasPrefix(path, "/dev/")
}
