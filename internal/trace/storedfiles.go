package trace

import (
	"bytes"
	"cmp"
	"compress/flate"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/internal/format"
)

// File is a file stored with the trace: the executable, or a source.
type File struct {
	Name    string // original path
	Kind    format.FileKind
	Size    int64 // bytes
	Stored  int64 // bytes of the trace that it takes
	Missing bool  // a part of it is not there

	number uint32
	parts  []filePart // by offset
	t      *Trace
}

// filePart is the location of a part of a file in the trace. It is inflated on demand.
type filePart struct {
	offset int64
	length int64
	loc    format.Loc
}

var errOtherFile = fmt.Errorf("%w: a part belongs to another file with the same number", format.ErrCorrupt)

func (t *Trace) fileBlock(b []byte, loc format.Loc) error {
	p, err := format.DecodeFilePart(b)
	if err != nil {
		return err
	}
	f := t.files[p.File]
	if f == nil {
		if t.files == nil {
			t.files = map[uint32]*File{}
		}
		f = &File{Name: p.Name, Kind: p.Kind, Size: p.Size, number: p.File, t: t}
		t.files[p.File] = f
	}
	if f.Name != p.Name || f.Kind != p.Kind || f.Size != p.Size {
		return errOtherFile
	}
	f.Stored += int64(len(p.Data))
	f.parts = append(f.parts, filePart{p.Offset, int64(p.Length), loc})
	return nil
}

// Files returns the files stored with the trace, by their numbers.
func (t *Trace) Files() []File {
	list := make([]File, 0, len(t.files))
	for _, f := range t.files {
		sorted := *f
		sorted.parts = slices.Clone(f.parts)
		slices.SortStableFunc(sorted.parts, func(a, b filePart) int { return cmp.Compare(a.offset, b.offset) })
		end := int64(0)
		for _, p := range sorted.parts {
			sorted.Missing = sorted.Missing || p.offset > end
			end = max(end, p.offset+p.length)
		}
		sorted.Missing = sorted.Missing || end < f.Size
		list = append(list, sorted)
	}
	slices.SortFunc(list, func(a, b File) int { return cmp.Compare(a.number, b.number) })
	return list
}

// NextFile returns a number greater than that of every file of the trace; 0 if there is none.
func (t *Trace) NextFile() uint32 {
	next := uint32(1)
	for n := range t.files {
		next = max(next, n+1)
		if n+1 == 0 {
			return 0
		}
	}
	return next
}

// Reader returns a reader of the file, valid while the trace is open. It keeps one part of the file
// in memory.
func (f *File) Reader() io.ReaderAt { return &fileReader{f: f, part: -1} }

type fileReader struct {
	f *File

	mu   sync.Mutex
	b    blockReader
	part int    // index of the part in data; -1: none
	data []byte // the inflated part
	z    io.ReadCloser
}

// ReadAt reads the file; at a missing part the error wraps format.ErrCorrupt.
func (r *fileReader) ReadAt(p []byte, off int64) (n int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < len(p) {
		if off >= r.f.Size {
			return n, io.EOF
		}
		parts := r.f.parts
		i := sort.Search(len(parts), func(k int) bool { return parts[k].offset > off }) - 1
		for i > 0 && parts[i-1].offset == parts[i].offset {
			i-- // the first of several in the trace counts
		}
		if i < 0 || off >= parts[i].offset+parts[i].length {
			return n, fmt.Errorf("%w: the part at byte %d of the stored file %s is missing", format.ErrCorrupt, off, r.f.Name)
		}
		if err := r.inflate(i); err != nil {
			return n, err
		}
		m := copy(p[n:], r.data[off-parts[i].offset:])
		n += m
		off += int64(m)
	}
	return n, nil
}

// inflate sets data to the i-th part.
func (r *fileReader) inflate(i int) error {
	if i == r.part {
		return nil
	}
	r.part = -1
	want := r.f.parts[i]
	typ, payload, err := r.b.read(r.f.t, want.loc)
	if err != nil && err != errGone {
		return err
	}
	p, bad := format.DecodeFilePart(payload)
	if err != nil || typ != format.BlockFile || bad != nil || p.Offset != want.offset || int64(p.Length) != want.length {
		return fmt.Errorf("%w: the stored file %s was changed while it was read", format.ErrCorrupt, r.f.Name)
	}
	if r.z == nil {
		r.z = flate.NewReader(nil)
	}
	if err := r.z.(flate.Resetter).Reset(bytes.NewReader(p.Data), nil); err != nil {
		return err
	}
	// Reads one byte more, which must not be there.
	r.data = slices.Grow(r.data[:0], format.MaxFilePart+1)[:p.Length+1]
	if n, err := io.ReadFull(r.z, r.data); n != int(p.Length) || err != io.ErrUnexpectedEOF && err != io.EOF {
		return fmt.Errorf("%w: the part at byte %d of the stored file %s does not inflate to its length", format.ErrCorrupt, p.Offset, r.f.Name)
	}
	r.data, r.part = r.data[:p.Length], i
	return nil
}

// Limits of a source that came with a trace, which may be from a stranger: a gigabyte of empty
// lines takes little room in it.
const (
	largestSource = 16 << 20
	mostLines     = 1 << 20
)

// StoredSources are the sources stored with a trace. Of several with one name the first complete
// one is used.
type StoredSources struct {
	of map[string]*File
}

// SourcesOf returns the sources stored with t.
func SourcesOf(t *Trace) StoredSources {
	s := StoredSources{map[string]*File{}}
	for _, f := range t.Files() {
		if f.Kind != format.FileSource {
			continue
		}
		if old := s.of[f.Name]; old == nil || old.Missing {
			s.of[f.Name] = &f
		}
	}
	return s
}

// Read reads a source by the compiler's name for it; nil: it is not stored.
func (s StoredSources) Read(file string) ([]byte, error) {
	f := s.of[file]
	if f == nil {
		return nil, nil
	}
	if f.Size > largestSource {
		return nil, fmt.Errorf("it has %d bytes, and at most %d are read", f.Size, largestSource)
	}
	b := make([]byte, f.Size)
	if _, err := f.Reader().ReadAt(b, 0); err != nil {
		return nil, err
	}
	if n := bytes.Count(b, []byte("\n")); n > mostLines {
		return nil, fmt.Errorf("it has %d lines, and at most %d are read", n, mostLines)
	}
	return b, nil
}

// In lists the sources of a directory, which ends in a slash or is "".
func (s StoredSources) In(dir string) (list []string) {
	for name := range s.of {
		if rest, ok := strings.CutPrefix(name, dir); ok && !strings.ContainsAny(rest, `/\`) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
