package perfdata

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/pgo"
)

const base = 0x5000_0000 // where files are mapped

const prefix = "github.com/scopeview/scopeview/internal/perfdata."

// edge is a pair of a profile: functions, and lines relative to their first.
type edge struct {
	leaf   string
	line   int
	caller string
	call   int
}

// edges returns the pairs of a profile whose places have one function each.
func edges(t *testing.T, p *pgo.Profile) map[edge]int64 {
	t.Helper()
	all := map[edge]int64{}
	for pair, n := range p.Weight {
		f := p.Locations[pair.Leaf][0]
		e := edge{leaf: strings.TrimPrefix(f.Func, prefix), line: f.Line - f.Start}
		if pair.Caller != pgo.None {
			f := p.Locations[pair.Caller][0]
			e.caller, e.call = strings.TrimPrefix(f.Func, prefix), f.Line-f.Start
		}
		all[e] += n
	}
	return all
}

func checkEdges(t *testing.T, p *pgo.Profile, want map[edge]int64) {
	t.Helper()
	got := edges(t, p)
	for e, n := range want {
		if got[e] != n {
			t.Errorf("%+v has %d, want %d", e, got[e], n)
		}
		delete(got, e)
	}
	for e, n := range got {
		t.Errorf("%+v has %d, and should not be there", e, n)
	}
}

func checkNotes(t *testing.T, notes string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(notes, w) {
			t.Errorf("no note says %q:\n%s", w, notes)
		}
	}
}

// story builds a file with a record of each kind, in an order in which perf may write them: the
// mapping of the program follows a sample that needs it.
func story(t *testing.T, s *self, m *made) {
	in, call := base+s.offset(t, "inner", 3), base+s.offset(t, "outer", 2)
	const user, kernel = 1<<64 - 512, 1<<64 - 128
	m.record(recordComm, 0, append([]any{uint32(7), uint32(7), []byte("perf-exec\x00\x00\x00\x00\x00\x00\x00")}, at(7, 0)...)...)
	m.mmap2(7, 10, base, 1<<24, "/bin/of-before-exec")
	m.sample(7, 1_000, in, user, in, call+1)
	m.record(recordComm, 1<<13, append([]any{uint32(7), uint32(7), []byte("program\x00")}, at(7, 20)...)...)
	m.mmap2(7, 21, base, 1<<30, s.path)
	m.mmap2(7, 22, 0x7000_0000, 4096, "/lib/that-is-not-there.so")
	m.mmap2(7, 23, 0x7100_0000, 4096, "[vdso]")
	m.record(recordMmap, 1<<13, append([]any{uint32(7), uint32(7), uint64(base), uint64(1 << 24), uint64(0), "/some/data"}, at(7, 24)...)...)
	m.record(recordFork, 0, append([]any{uint32(8), uint32(7), uint32(8), uint32(7), uint64(30)}, at(7, 30)...)...)
	m.sample(8, 2_000, in, kernel, 0xffffffff81000000, user, in, call+1) // a fork inherits its parent's mappings
	m.sample(7, 3_000, base+s.offset(t, "inner", 0), user, 0, call+1)    // in the prologue
	m.sample(7, 4_000, in)                                               // without callers
	m.sample(7, 4_001, 0x7000_0010)
	m.sample(7, 4_002, 0x7100_0010)
	m.sample(7, 4_003, 0x1000)
	m.record(recordSample, 1, uint64(1<<63), uint32(7), uint32(7), uint64(5_000), uint64(3), uint64(kernel), uint64(1<<63), uint64(user))
	m.record(recordLost, 0, append([]any{uint64(1), uint64(5)}, at(7, 40)...)...)
	m.record(recordLostSamples, 0, append([]any{uint64(6)}, at(7, 41)...)...)
	m.record(recordThrottle, 0, append([]any{uint64(50), uint64(1), uint64(1)}, at(7, 50)...)...)
	m.record(recordExit, 0, append([]any{uint32(8), uint32(7), uint32(8), uint32(7), uint64(60)}, at(8, 60)...)...)
	m.record(recordFork, 1<<13, append([]any{uint32(9), uint32(7), uint32(9), uint32(7), uint64(61)}, at(9, 61)...)...)
	m.mmap2(9, 62, base, 1<<30, "/bin/another")
	m.sample(9, 6_000, in)
	m.record(200, 0, []byte("unknown kinds are passed over...")) // 32 bytes
}

var storyEdges = map[edge]int64{
	{"inner", 3, "outer", 2}: 2,
	{"inner", 0, "", 0}:      1,
	{"inner", 3, "", 0}:      1,
}

func TestStory(t *testing.T) {
	s := theTest(t)
	for name, m := range map[string]*made{
		"file":       newMade(task),
		"pipe":       {order: binary.LittleEndian, attrs: []madeAttr{task}, pipe: true},
		"big-endian": {order: binary.BigEndian, swapped: true, attrs: []madeAttr{task}, features: map[int][]byte{}},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, s, m)
			if !m.pipe {
				m.features[featureHost], m.features[featureArch] = m.text("box"), m.text("x86_64")
				m.features[featureCommand] = m.fields(nil, uint32(2), m.text("perf"), m.text("record"))
			}
			p, b, notes := m.profile(t, Options{})
			if b != nil || p.Unit != pgo.Samples || p.Duration != 4_000*time.Nanosecond {
				t.Errorf("branches %v, unit %s, %v", b, p.Unit, p.Duration)
			}
			checkEdges(t, p, storyEdges)
			checkNotes(t, notes, "8 samples of task-clock are of "+s.path+".", "4 of them are in the profile.",
				"1 samples are left out: they are in the kernel.", "1 samples are left out: no file was mapped there.",
				"1 samples are left out: their code is in no file ([vdso]).", "1 samples are left out: reading the executable /lib/that-is-not-there.so:",
				"1 samples have no caller, or", "1 samples have no caller: their function has no frame there",
				"Other programs were sampled: /bin/another (1).", "11 samples or other records were lost", "1 times the kernel throttled samples", "1 records are of unknown kinds",
				"Names in "+s.path+" are from Go's table", "Whether it is the build that ran is not known")
			if len(p.Losses) != 3 || !strings.Contains(notes, strings.Join(p.Losses, "\n")) {
				t.Errorf("losses %q are not among the notes:\n%s", p.Losses, notes)
			}
			want := []string{"perf record (on box x86_64)", "samples of task-clock in " + s.path}
			if m.pipe {
				want[0] = "perf record"
			}
			if !slices.Equal(p.Comments, want) {
				t.Errorf("comments %q, want %q", p.Comments, want)
			}
		})
	}
}

// TestLossesSaturate: the sum of the kernel's losses saturates, and impossible times yield no
// duration.
func TestLossesSaturate(t *testing.T) {
	s := theTest(t)
	m := newMade(task)
	m.mmap2(7, 0, base, 1<<30, s.path)
	m.sample(7, 1, base+s.offset(t, "inner", 3))
	m.sample(7, math.MaxUint64, base+s.offset(t, "inner", 3))
	for range 3 {
		m.record(recordLost, 0, append([]any{uint64(1), uint64(1 << 63)}, at(7, 40)...)...)
	}
	p, _, notes := m.profile(t, Options{})
	checkNotes(t, notes, "at least 18446744073709551615 samples or other records were lost")
	if p.Duration != 0 {
		t.Errorf("a duration of %v", p.Duration)
	}
}

func TestChoice(t *testing.T) {
	s := theTest(t)
	path := func(m *made) string { story(t, s, m); return m.file(t) }(newMade(task))
	p, _, notes, err := Profile(context.Background(), path, Options{PID: 8})
	if err != nil {
		t.Fatal(err)
	}
	checkEdges(t, p, map[edge]int64{{"inner", 3, "outer", 2}: 1})
	checkNotes(t, strings.Join(notes, "\n"), "8 samples are left out: they are of other processes.")
	if p, _, _, err = Profile(context.Background(), path, Options{Executable: "another", Binary: s.path}); err != nil {
		t.Fatal(err)
	}
	checkEdges(t, p, map[edge]int64{{"inner", 3, "", 0}: 1})
	for want, o := range map[string]Options{
		`no process of "nobody" was sampled; sampled were: ` + s.path + " (8), /bin/another (1)": {Executable: "nobody"},
		"process 99 has no samples; others have 9":                                               {PID: 99},
		`it has no event "cycles", but task-clock`:                                               {Event: "cycles"},
		"samples of the executable /bin/another can't be named":                                  {Executable: "/bin/another"},
	} {
		if _, _, _, err := Profile(context.Background(), path, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, _, _, err := Profile(ctx, path, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was canceled", err)
	}
}

// TestProgramWithoutExecBit: for Linux before 3.16, the program of a process is determined from its
// mappings. A process that names itself, and opens libraries, keeps its program.
func TestProgramWithoutExecBit(t *testing.T) {
	s := theTest(t)
	const other = "/usr/bin/other"
	name := func(m *made, pid uint32, time uint64) {
		m.record(recordComm, 0, append([]any{pid, pid, []byte("name\x00\x00\x00\x00")}, at(pid, time)...)...)
	}
	for what, c := range map[string]struct {
		make func(m *made)
		want string
	}{
		"perf becomes the program": {func(m *made) {
			name(m, 7, 0)
			m.mmap2(7, 0, base, 4096, other)
			m.mmap2(7, 0, 0x7000_0000, 4096, "[vdso]")
			name(m, 7, 10)
			m.mmap2(7, 11, 0x9000_0000, 1<<30, s.path)
			m.mmap2(7, 12, 0x7100_0000, 4096, "/lib/ld.so")
			m.mmap2(7, 13, 0x7000_0000, 4096, "[vdso]")
			m.sample(7, 20, 0x9000_0000+s.offset(t, "inner", 0))
		}, s.path},
		"a shell's child, which has no vdso": {func(m *made) {
			m.mmap2(6, 0, base, 4096, other)
			m.record(recordFork, 0, append([]any{uint32(7), uint32(6), uint32(7), uint32(6), uint64(5)}, at(7, 5)...)...)
			name(m, 7, 10)
			m.mmap2(7, 11, base, 1<<30, s.path)
			m.sample(7, 20, base+s.offset(t, "inner", 0))
		}, s.path},
		"a name and libraries": {func(m *made) {
			m.mmap2(7, 0, base, 1<<24, s.path)
			m.mmap2(7, 1, 0x7000_0000, 4096, "[vdso]")
			name(m, 7, 10)
			for i := range uint64(20) {
				m.mmap2(7, 11+i, 0x7100_0000+i<<12, 4096, other)
			}
			m.sample(7, 50, base+s.offset(t, "inner", 0))
		}, s.path},
		"a name, where others are marked as by exec": {func(m *made) {
			m.record(recordComm, 1<<13, append([]any{uint32(7), uint32(7), []byte("name\x00\x00\x00\x00")}, at(7, 0)...)...)
			m.mmap2(7, 0, base, 1<<24, s.path)
			name(m, 7, 10)
			m.mmap2(7, 11, base+1<<23, 4096, other)
			m.sample(7, 20, base+s.offset(t, "inner", 0))
		}, s.path},
	} {
		m := newMade(task)
		c.make(m)
		_, _, notes := m.profile(t, Options{})
		if want := "1 samples of task-clock are of " + c.want; !strings.Contains(notes, want) || strings.Contains(notes, "Other programs") {
			t.Errorf("%s: want %q:\n%s", what, want, notes)
		}
	}
}

func TestEvents(t *testing.T) {
	s := theTest(t)
	for name, id := range map[string]uint64{"id": hasID, "first": hasIDFirst} {
		t.Run(name, func(t *testing.T) {
			has := hasIP | hasThread | hasTime | hasRead | hasRaw | id
			m := newMade(
				madeAttr{kind: software, config: 9, has: has},                                           // a dummy
				madeAttr{kind: software, config: 2, has: has, ids: []uint64{11}, readFormat: 1 | 4},     // page-faults
				madeAttr{kind: hardware, config: 0, has: has, ids: []uint64{12, 13}, readFormat: 2 | 8}) // cycles, a group
			m.features[featureEventDesc] = m.fields(nil, uint32(1), uint32(4), uint32(0), uint32(1), m.text("my-cycles"), uint64(13))
			ip := base + s.offset(t, "inner", 3)
			add := func(event uint64, read ...any) {
				var b []byte
				if id == hasIDFirst {
					b = m.fields(b, event, ip, uint32(7), uint32(7), uint64(5))
				} else {
					b = m.fields(b, ip, uint32(7), uint32(7), uint64(5), event)
				}
				m.record(recordSample, 2, append(append([]any{b}, read...), uint32(4), uint32(0))...)
			}
			m.record(recordMmap, 2, uint32(7), uint32(7), uint64(base), uint64(1<<30), uint64(0), []byte(s.path+"\x00"), uint32(7), uint32(7), uint64(1), uint64(12))
			add(11, uint64(1), uint64(1), uint64(11))
			add(12, uint64(2), uint64(1), uint64(1), uint64(1))
			add(13, uint64(0), uint64(1))
			add(99)
			p, _, notes := m.profile(t, Options{Event: "my-cycles"})
			checkEdges(t, p, map[edge]int64{{"inner", 3, "", 0}: 2})
			checkNotes(t, notes, "2 samples of my-cycles are of", "2 samples are left out: they are of other events", "(perf record --call-graph fp records them)")
			_, _, _, err := Profile(context.Background(), m.file(t), Options{})
			if err == nil || !strings.Contains(err.Error(), "its samples are of page-faults, which do not measure time") {
				t.Errorf("%v", err)
			}
			p, _, _ = m.profile(t, Options{Event: "page-faults"})
			checkEdges(t, p, map[edge]int64{{"inner", 3, "", 0}: 1})
		})
	}
}

func TestBuildIDs(t *testing.T) {
	s := theTest(t)
	if s.im.GNUID == "" {
		t.Skip("needs a linker that writes a build id: Go 1.24 or later")
	}
	right, err := hex.DecodeString(s.im.GNUID)
	if err != nil {
		t.Fatal(err)
	}
	wrong := slices.Clone(right)
	wrong[0] ^= 1
	for name, c := range map[string]struct {
		id    []byte
		place string
		good  bool
	}{
		"mapping": {right, "mapping", true}, "feature": {right, "feature", true}, "record": {right, "record", true},
		"another in a mapping": {wrong, "mapping", false}, "another in a feature": {wrong, "feature", false}, "another in a record": {wrong, "record", false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMade(task)
			entry := m.fields(nil, uint32(7), c.id, uint8(20), make([]byte, 3), s.path)
			switch c.place {
			case "mapping":
				m.record(recordMmap2, 2|1<<14, append([]any{uint32(7), uint32(7), uint64(base), uint64(1 << 30), uint64(0), uint8(20), make([]byte, 3), c.id, uint32(5), uint32(2), s.path}, at(7, 1)...)...)
			case "feature":
				m.features[featureBuildID] = m.fields(nil, uint32(0), uint16(1<<15|2), uint16(len(entry)+8), entry)
				m.mmap2(7, 1, base, 1<<30, s.path)
			case "record":
				m.mmap2(7, 1, base, 1<<30, s.path)
				m.record(recordBuildID, 1<<15, entry)
			}
			m.sample(7, 2, base+s.offset(t, "inner", 3))
			p, _, notes, err := Profile(context.Background(), m.file(t), Options{})
			switch {
			case !c.good:
				if err == nil || !strings.Contains(err.Error(), "is another build") {
					t.Errorf("%v", err)
				}
			case err != nil:
				t.Error(err)
			case len(p.Weight) != 1 || strings.Contains(strings.Join(notes, "\n"), "is not known: the file has no build id"):
				t.Errorf("%v, %q", p.Weight, notes)
			}
		})
	}
}

func TestProfileOfNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, _, _, err := Profile(context.Background(), filepath.Join(dir, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, _, _, err := Profile(context.Background(), dir, Options{}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("%v", err)
	}
}
