package format

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

var someParts = []FilePart{
	{File: 1, Length: 3, Size: 3, Kind: FileExecutable, Name: "/bin/prog", Data: []byte("data")},
	{File: math.MaxUint32, Length: MaxFilePart, Offset: MaxFile - MaxFilePart, Size: MaxFile, Kind: FileSource, Name: strings.Repeat("n", MaxName), Data: []byte{}},
	{File: 2, Kind: 77, Name: "empty", Data: []byte{1}},
}

func TestFilePart(t *testing.T) {
	for _, part := range someParts {
		p := AppendFilePart(nil, &part)
		if got, err := DecodeFilePart(p); err != nil || !reflect.DeepEqual(got, part) {
			t.Errorf("%+v is read as %+v, %v", part, got, err)
		}
		if vs, err := decode(BlockFile, p); err != nil || !bytes.Equal(Blocks[BlockFile].Append(nil, vs), p) {
			t.Errorf("the table reads %x as %v, %v", p, vs, err)
		}
		if n := FilePartHeadSize + len(part.Name) + len(part.Data); len(p) != n {
			t.Errorf("%d bytes, want %d", len(p), n)
		}
	}
	for name, change := range map[string]func(*FilePart){
		"no number":   func(p *FilePart) { p.File = 0 },
		"too long":    func(p *FilePart) { p.Length, p.Size = MaxFilePart+1, MaxFile },
		"beyond":      func(p *FilePart) { p.Offset = 1 },
		"of nothing":  func(p *FilePart) { p.Length = 0 },
		"before":      func(p *FilePart) { p.Offset = -1 },
		"large":       func(p *FilePart) { p.Size = MaxFile + 1 },
		"no name":     func(p *FilePart) { p.Name = "" },
		"a long name": func(p *FilePart) { p.Name = strings.Repeat("n", MaxName+1) },
	} {
		bad := someParts[0]
		change(&bad)
		if _, err := DecodeFilePart(AppendFilePart(nil, &bad)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := AppendFilePart(nil, &someParts[0])
	for n := range FilePartHeadSize + len(someParts[0].Name) {
		if _, err := DecodeFilePart(p[:n]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func FuzzDecodeFilePart(f *testing.F) {
	for _, part := range someParts {
		f.Add(AppendFilePart(nil, &part))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodeFilePart(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if p.Offset < 0 || p.Length > MaxFilePart || p.Offset+int64(p.Length) > p.Size || p.Size > MaxFile || p.File == 0 || p.Name == "" {
			t.Fatalf("%+v", p)
		}
		if again := AppendFilePart(nil, &p); !bytes.Equal(again, b) {
			t.Fatalf("%x becomes %x", b, again)
		}
	})
}
