package perfdata

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/symbols"
)

// maker makes the profile of a program.
type maker struct {
	*taker
	p         *program
	binary    string
	profile   *pgo.Profile
	images    map[int32]*image
	locations map[spot]known
	used      int64
	alone     int64 // samples whose caller is unknown
	frameless int64 // likewise, because their function had no frame yet
	dropped   map[string]int64
	unnamed   int64 // branches with an unnamed end
}

// image is the file of an object.
type image struct {
	*symbols.Image
	why       string // the reason why it is not used; "": it is
	unchecked bool   // there are no build ids to compare
}

// known is the location of a spot.
type known struct {
	addr     uint64 // in the file
	location pgo.Location
	why      string // the reason why the location is unknown; "": it is known
}

// image opens an object's file.
func (m *maker) image(object int32) *image {
	im := m.images[object]
	if im == nil {
		im = m.open(object)
		m.images[object] = im
	}
	return im
}

func (m *maker) open(object int32) *image {
	o := m.spaces.objects[object]
	path := o.path
	if m.binary != "" && object == m.p.object {
		path = m.binary
	}
	if path == o.path && !isFile(path) {
		return &image{why: fmt.Sprintf("their code is in no file (%s)", o.path)}
	}
	im, err := symbols.OpenImage(path)
	if err != nil {
		return &image{why: err.Error()}
	}
	if o.id != "" && !sameID(o.id, im.GNUID) {
		return &image{why: fmt.Sprintf("the file %s is another build: its build id is %q, that of the recorded file %q", path, im.GNUID, o.id)}
	}
	return &image{Image: im, unchecked: o.id == ""}
}

// sameID compares build ids: perf pads short ones with zeros.
func sameID(a, b string) bool {
	return b != "" && strings.TrimRight(a, "0") == strings.TrimRight(b, "0")
}

// locate returns the location of a spot.
func (m *maker) locate(s spot) known {
	k, ok := m.locations[s]
	if !ok {
		k = m.name(s)
		m.locations[s] = k
	}
	return k
}

func (m *maker) name(s spot) known {
	if s == nowhere {
		return known{why: "no file was mapped there"}
	}
	im := m.image(s.object)
	if im.why != "" {
		return known{why: im.why}
	}
	addr, ok := im.Address(s.offset)
	if !ok {
		return known{why: m.spaces.objects[s.object].path + " has no code there"}
	}
	k := known{addr: addr, location: im.Frames(addr)}
	if k.location == nil || k.location[0].Func == "" {
		k.why = "no function is known at their addresses in " + m.spaces.objects[s.object].path
	}
	return k
}

func (m *maker) comments() []string {
	by := "perf record"
	if m.f.command != "" {
		by = m.f.command
	}
	if m.f.host != "" || m.f.arch != "" {
		by += fmt.Sprintf(" (on %s)", strings.TrimSpace(m.f.host+" "+m.f.arch))
	}
	return []string{by, fmt.Sprintf("samples of %s in %s", m.f.attrs[m.event].name, m.spaces.objects[m.p.object].path)}
}

// notes returns sentences on the use of all samples, and on the sources of
// names.
func (m *maker) notes(b *Branches) []string {
	var list []string
	say := func(n int64, format string, args ...any) {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d ", n)+fmt.Sprintf(format, args...)+".")
		}
	}
	path := m.spaces.objects[m.p.object].path
	say(m.p.samples, "samples of %s are of %s", m.f.attrs[m.event].name, path)
	if b == nil {
		say(m.used, "of them are in the profile")
		say(m.p.kernel, "samples are left out: they are in the kernel")
		for _, why := range slices.Sorted(maps.Keys(m.dropped)) {
			say(m.dropped[why], "samples are left out: %s", why)
		}
		say(m.alone, "samples have no caller, or one without a name%s", m.callers())
		if m.f.attrs[m.event].has&hasBranches != 0 {
			list = append(list, "The branch records are not used: they have no calls (perf record -b has all branches).")
		}
		say(m.frameless, "samples have no caller: their function has no frame there, so perf recorded another (compile with -fno-omit-frame-pointer)")
	} else {
		say(int64(len(m.p.branches)), "different branches, and %d ranges between branches, are in the profile", len(m.p.ranges))
		say(m.p.oddBranches, "branches are left out: an end is in no file, as in the kernel")
		say(m.p.oddRanges, "ranges are left out: their ends are not in one file, or not in order")
		say(m.unnamed, "branches and ranges are left out: an end has no name")
		for _, why := range slices.Sorted(maps.Keys(m.dropped)) {
			say(m.dropped[why], "branches and ranges are left out: %s", why)
		}
	}
	if others := m.others(m.p); others != "" {
		list = append(list, "Other programs were sampled: "+others+".")
	}
	say(m.otherPIDs, "samples are left out: they are of other processes")
	say(m.otherEvents, "samples are left out: they are of other events")
	m.profile.Losses = m.losses()
	return slices.Concat(list, m.profile.Losses, m.sources())
}

// losses returns sentences on parts of the recording that are missing or can't
// be read.
func (m *maker) losses() (list []string) {
	say := func(n int64, text string) {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s.", n, text))
		}
	}
	if m.lost > 0 {
		list = append(list, report(m.lost)+" samples or other records were lost, since the kernel had no room for them.")
	}
	say(m.throttled, "times the kernel throttled samples, because there were too many")
	say(m.spaces.left, fmt.Sprintf("mappings are left out: a process had more than %d", mostChanges))
	say(m.unknown, "records are of unknown kinds, and were skipped: the file is from a newer perf, or damaged")
	say(m.f.cut, "lists behind the records are missing: the file is truncated. The profile does not need them")
	if m.f.open {
		list = append(list, "perf was interrupted: its file may lack records, and has no event names and no build ids.")
	}
	return list
}

// report formats a sum that saturates.
func report(n uint64) string {
	if n == math.MaxUint64 {
		return fmt.Sprintf("at least %d", n)
	}
	return fmt.Sprint(n)
}

// callers returns how to record callers, if they were not recorded.
func (m *maker) callers() string {
	switch a := m.f.attrs[m.event]; {
	case a.has&hasChain == 0:
		return " (perf record --call-graph fp records them)"
	case a.has&hasUserStack != 0:
		return " (copies of stacks are not unwound: perf record --call-graph fp records callers)"
	}
	return ""
}

// sources returns a sentence on the source of names for each file.
func (m *maker) sources() (list []string) {
	for _, object := range slices.Sorted(maps.Keys(m.images)) {
		im, path := m.images[object], m.spaces.objects[object].path
		if im.why != "" {
			continue
		}
		from := "debug information (DWARF)"
		switch {
		case im.Inlining() && im.Debug == nil:
			from = "Go's table, and ends of prologues from debug information (DWARF)"
		case im.Inlining():
			from = "Go's table; where prologues end is not known: " + im.Debug.Error()
		case im.Go != nil && im.Debug != nil:
			from = "Go's table, which has no inlined calls here: " + im.Debug.Error()
		case im.Debug != nil:
			from = "the table of symbols, without lines: " + im.Debug.Error()
		}
		text := fmt.Sprintf("Names in %s are from %s.", path, from)
		if im.unchecked {
			text += " Whether it is the build that ran is not known: the file has no build id of it."
		}
		if im.Guessed > 0 {
			text += fmt.Sprintf(" For %d functions the first line is assumed to be that of their first instruction: compile with clang's -fdebug-info-for-profiling to record it.", im.Guessed)
		}
		list = append(list, text)
	}
	return list
}
