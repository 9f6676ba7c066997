package outside

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/trace"
)

// play is a recorder with artificial events.
type play struct {
	*recorder
	t     *testing.T
	clock *perf.Watched
	now   int64
}

// newPlay returns a play whose process 1 has nothing mapped.
func newPlay(t *testing.T) *play {
	w, err := newWriter(filepath.Join(t.TempDir(), "x.scope"), 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{
		w: w, began: 1000, reported: map[string]string{}, spaces: map[uint32]*space{}, threads: map[uint32]format.Program{}, series: map[series]*format.Samples{},
		until: map[series]int64{}, switches: map[uint32]*format.Switches{}, epoch: time.Now().UnixNano(),
	}
	r.setUp()
	return &play{r, t, &perf.Watched{Counter: perf.Counter{Name: "task-clock", Every: 1}}, 1000}
}

// event processes an event, of the process's own thread.
func (p *play) event(e perf.Event) {
	p.now++
	e.Time, e.TID = p.now, e.PID
	p.take(&taken{e, p.clock})
}

// maps maps the first page of code of a file at an address.
func (p *play) maps(pid uint32, at uint64, file string) {
	var st unix.Stat_t
	if strings.HasPrefix(file, "/") && !strings.HasPrefix(file, "//") {
		if err := unix.Stat(file, &st); err != nil {
			p.t.Fatal(err)
		}
	}
	p.event(perf.Event{Kind: perf.KindMap, PID: pid, Addr: at, Size: 0x1000, Offset: codeAt, File: file, Inode: st.Ino})
}

func (p *play) sample(pid uint32, at ...uint64) {
	p.event(perf.Event{Kind: perf.KindSample, PID: pid, Period: 1, Chain: at})
}

// done ends the recording, and returns the places of its samples in order: the process, its
// program, the functions, and the files that the addresses are in.
func (p *play) done() (list []string) {
	p.flush(p.now)
	if err := p.w.close(p.now); err != nil {
		p.t.Fatal(err)
	}
	tr := sound(p.t, p.w.file.Name())
	var all []trace.Sample
	if err := tr.EachSample(func(s *trace.Sample) bool {
		all = append(all, *s)
		return true
	}); err != nil {
		p.t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b trace.Sample) int { return int(a.Time - b.Time) })
	for _, s := range all {
		x := tr.ProgramOf(&s)
		text := fmt.Sprintf("%d %s:", x.PID, filepath.Base(x.Path))
		frames := tr.AppendFrames(nil, s.Stack)
		for i, pc := range tr.PCs(s.Stack) {
			if frames[i].Function == format.UnknownCaller { // the artificial functions have no callers
				continue
			}
			object := ""
			if o := tr.CodeAt(pc); o != nil {
				object = filepath.Base(o.Path)
			}
			text += fmt.Sprintf(" %s (%s)", frames[i].Function, object)
		}
		list = append(list, text)
	}
	return list
}

// codeAt is the offset of the code in a file of madeFile.
const codeAt = 0x1000

// madeFile writes an executable with one function, which is all of its first page of code.
func madeFile(t *testing.T, path, function string) {
	t.Helper()
	names, strings := "\x00.strtab\x00.symtab\x00", "\x00"+function+"\x00"
	const head, prog, section, symbol = 64, 56, 64, 24
	tables := int64(head + prog)
	var b bytes.Buffer
	put := func(x any) {
		if err := binary.Write(&b, binary.LittleEndian, x); err != nil {
			t.Fatal(err)
		}
	}
	put(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}, Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64),
		Version: 1, Phoff: head, Phentsize: prog, Phnum: 1, Shoff: uint64(tables), Shentsize: section, Shnum: 4, Shstrndx: 1, Ehsize: head,
	})
	put(elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_X), Off: codeAt, Vaddr: 0x401000, Filesz: 0x1000, Memsz: 0x1000})
	at := uint64(tables + 4*section)
	put([4]elf.Section64{
		{},
		{Name: 1, Type: uint32(elf.SHT_STRTAB), Off: at, Size: uint64(len(names))},
		{Name: 1, Type: uint32(elf.SHT_STRTAB), Off: at + uint64(len(names)), Size: uint64(len(strings))},
		{Name: 9, Type: uint32(elf.SHT_SYMTAB), Off: at + uint64(len(names)+len(strings)), Size: 2 * symbol, Link: 2, Entsize: symbol},
	})
	b.WriteString(names + strings)
	put([2]elf.Sym64{{}, {Name: 1, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 3, Value: 0x401000, Size: 0x1000}})
	b.Write(make([]byte, 2*codeAt-b.Len()))
	if err := os.WriteFile(path, b.Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
}

// execOf returns the kernel's record of an exec.
func execOf(pid uint32) (e perf.Event) {
	le := binary.LittleEndian
	const size = 8 + 8 + 32
	b := le.AppendUint16(le.AppendUint16(le.AppendUint32(nil, uint32(perf.KindName)), 1<<13), size)
	b = append(le.AppendUint32(le.AppendUint32(b, pid), pid), make([]byte, 32)...)
	perf.Parse(b, func(x *perf.Event) { e = *x })
	return e
}

// TestCodeHasATime: a sample is named after the code at its addresses when it was taken, in its
// process, and never after earlier or later code.
func TestCodeHasATime(t *testing.T) {
	dir := t.TempDir()
	a, b, same := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "same")
	madeFile(t, a, "fa")
	madeFile(t, b, "fb")
	madeFile(t, same, "old")
	const at = 0x400000
	fork := func(p *play, pid, parent uint32) { p.event(perf.Event{Kind: perf.KindFork, PID: pid, Parent: parent}) }
	execs := func(p *play, pid uint32, file string) {
		p.event(execOf(pid))
		p.maps(pid, at, file)
	}
	for _, c := range []struct {
		name string
		play func(p *play)
		want []string
	}{
		{"exec of another program at the same addresses", func(p *play) {
			p.maps(1, at, a)
			p.sample(1, at+8)
			execs(p, 1, b)
			p.sample(1, at+8)
		}, []string{"1 a: fa (a)", "1 b: fb (b)"}},
		{"a library over another one, and the first again", func(p *play) {
			p.maps(1, at, a)
			p.sample(1, at+8)
			p.maps(1, at, b)
			p.sample(1, at+8)
			p.maps(1, at, a)
			p.sample(1, at+8)
		}, []string{"1 a: fa (a)", "1 a: fb (b)", "1 a: fa (a)"}},
		{"what was known of no file is known later", func(p *play) {
			p.sample(1, at+8)
			p.maps(1, at, a)
			p.sample(1, at+8)
		}, []string{"1 .: <Unknown> ()", "1 a: fa (a)"}},
		{"anonymous code over a library", func(p *play) {
			p.maps(1, at, a)
			p.sample(1, at+8)
			p.maps(1, at, "//anon")
			p.sample(1, at+8)
		}, []string{"1 a: fa (a)", "1 a: <Unknown> (anon)"}},
		{"a child maps another library, and its parent has the old one", func(p *play) {
			p.maps(1, at, a)
			fork(p, 2, 1)
			p.sample(2, at+8)
			p.maps(2, at, b)
			p.sample(2, at+8)
			p.sample(1, at+8)
		}, []string{"2 a: fa (a)", "2 a: fb (b)", "1 a: fa (a)"}},
		{"a process id that another process has later", func(p *play) {
			p.maps(1, 0x900000, b)
			fork(p, 2, 1)
			execs(p, 2, a)
			p.sample(2, at+8)
			fork(p, 2, 1)
			p.sample(2, 0x900008)
			p.sample(2, at+8)
		}, []string{"2 a: fa (a)", "2 b: fb (b)", "2 b: <Unknown> ()"}},
		{"a part of a library is left", func(p *play) {
			p.maps(1, at, a)
			p.event(perf.Event{Kind: perf.KindMap, PID: 1, Addr: at, Size: 4, Offset: codeAt, File: "//anon"})
			p.sample(1, at)
			p.sample(1, at+8)
		}, []string{"1 a: <Unknown> (anon)", "1 a: fa (a)"}},
		{"the same code in two places", func(p *play) {
			p.maps(1, at, a)
			p.maps(1, 0x7000, a)
			p.sample(1, at+8)
			p.sample(1, 0x7008)
		}, []string{"1 a: fa (a)", "1 a: fa (a)"}},
		// The last one, because it changes a file.
		{"a program runs what has come to its own path", func(p *play) {
			p.maps(1, at, same)
			p.sample(1, at+8)
			for until := time.Now().Add(5 * time.Second); ; { // the file system's clock is coarse
				if err := os.Remove(same); err != nil {
					p.t.Fatal(err)
				}
				madeFile(p.t, same, "young")
				var st unix.Stat_t
				if err := unix.Stat(same, &st); err != nil || time.Now().After(until) {
					p.t.Fatal(err, st)
				}
				if st.Ctim.Nano() > p.epoch+p.now {
					break
				}
			}
			p.sample(1, at+8)
			p.maps(2, at, same)
			p.sample(2, at+8)
		}, []string{"1 same: old (same)", "1 same: old (same)", "2 same: <Unknown> (same)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay(t)
			c.play(p)
			if got := p.done(); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
