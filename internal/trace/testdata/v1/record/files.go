package main

import (
	"bytes"
	"compress/flate"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
)

// keeper stores files, as scopeview archive does: one in two parts, a small one, and an empty
// one.
type keeper struct{}

func (keeper) Start(r collect.Recording) {
	long := bytes.Repeat([]byte("what runs here is not told\n"), 3000)
	const cut = 50_000
	store(r, &format.FilePart{File: 1, Kind: format.FileExecutable, Name: "/bin/prog", Size: int64(len(long))}, long[:cut])
	store(r, &format.FilePart{File: 1, Kind: format.FileExecutable, Name: "/bin/prog", Size: int64(len(long)), Offset: cut}, long[cut:])
	source := []byte("package main\n\nfunc main() {}\n")
	store(r, &format.FilePart{File: 2, Kind: format.FileSource, Name: "/src/main.go", Size: int64(len(source))}, source)
	store(r, &format.FilePart{File: 3, Kind: format.FileSource, Name: "empty.go"}, nil)
}

func store(r collect.Recording, p *format.FilePart, content []byte) {
	var b bytes.Buffer
	z, _ := flate.NewWriter(&b, 9)
	_, _ = z.Write(content)
	_ = z.Close()
	p.Length, p.Data = uint32(len(content)), b.Bytes()
	r.Block(format.BlockFile, format.AppendFilePart(nil, p))
}

func (keeper) Beat()     {}
func (keeper) Snapshot() {}
func (keeper) Stop()     {}
