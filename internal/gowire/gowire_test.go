package gowire_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// sample returns a Go execution trace with the generations of the sample n times.
func sample(t testing.TB, version string, n int) []byte {
	t.Helper()
	b := filetest.Read(t, "../goscopes/testdata/go"+version+".trace")
	head := bytes.Clone(b[:gowire.HeaderSize])
	for range n {
		head = append(head, b[gowire.HeaderSize:]...)
	}
	return head
}

// generations cuts a trace, and returns the generations and their bytes joined again.
func generations(t testing.TB, in io.Reader) (all []*gowire.Generation, whole []byte) {
	t.Helper()
	cut, err := gowire.NewCutter(in)
	if err != nil {
		if err != io.EOF && !gowire.IsSentence(err) {
			t.Fatal(err)
		}
		return nil, nil
	}
	whole = bytes.Clone(cut.Head())
	for {
		g, err := cut.Next()
		if err == io.EOF {
			return all, whole
		}
		if err != nil {
			t.Fatal(err)
		}
		all, whole = append(all, g), append(whole, slices.Concat(g.Blocks()...)...)
	}
}

// TestCutter: the generations are all of a trace, whatever the sizes of the reads. Before Go 1.26
// they end where the number changes: generations of equal number are one.
func TestCutter(t *testing.T) {
	for version, want := range map[string]int{"1.22": 1, "1.23": 1, "1.25": 1, "1.26": 3} {
		b := sample(t, version, 3)
		for _, in := range []io.Reader{bytes.NewReader(b), iotest.OneByteReader(bytes.NewReader(b)), iotest.DataErrReader(bytes.NewReader(b))} {
			all, whole := generations(t, in)
			if len(all) != want || !bytes.Equal(whole, b) {
				t.Errorf("%s: %d generations of %d bytes, want %d of %d", version, len(all), len(whole), want, len(b))
			}
			for _, g := range all {
				if snap, scale := g.Clock(); g.Cut != nil || scale != 64 && scale != 1 || snap.Known != (version >= "1.25") {
					t.Errorf("%s: cut %v, clock %+v of %v ns", version, g.Cut, snap, scale)
				}
			}
		}
		// If the trace is cut off, the last generation reports it, provided that ends are marked.
		all, whole := generations(t, bytes.NewReader(b[:len(b)-5]))
		if last := all[len(all)-1]; !errors.Is(last.Cut, io.ErrUnexpectedEOF) || len(whole) != len(b)-5 {
			t.Errorf("%s: cut off: %v, %d bytes of %d", version, last.Cut, len(whole), len(b)-5)
		}
	}
	if _, err := gowire.NewCutter(iotest.ErrReader(os.ErrClosed)); !errors.Is(err, os.ErrClosed) || gowire.IsSentence(err) {
		t.Error(err)
	}
}

// TestGenerationsDiffer: before Go 1.26 a generation ends where the number changes.
func TestGenerationsDiffer(t *testing.T) {
	b := sample(t, "1.23", 1)
	at := len(b)
	b = append(b, sample(t, "1.23", 1)[gowire.HeaderSize:]...)
	for i := at; i < len(b); { // the second one is number 2
		x, size, err := gowire.Next(b[i:])
		if err != nil || size == 0 || x.Generation != 1 {
			t.Fatal(x.Generation, size, err)
		}
		b[i+1] = 2
		i += size
	}
	all, whole := generations(t, bytes.NewReader(b))
	if len(all) != 2 || all[0].Number != 1 || all[1].Number != 2 || !bytes.Equal(whole, b) {
		t.Errorf("%d generations, %d bytes of %d", len(all), len(whole), len(b))
	}
}

// TestDamaged: for any bytes, cutting ends and yields no more bytes than there are.
func TestDamaged(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, version := range []string{"1.22", "1.26"} {
		good := sample(t, version, 2)
		for range 300 {
			b := slices.Clone(good[:len(good)-rnd.IntN(len(good)/2)])
			for range rnd.IntN(10) {
				b[rnd.IntN(len(b))] = byte(rnd.IntN(256))
			}
			all, whole := generations(t, bytes.NewReader(b))
			if len(whole) > len(b) {
				t.Fatalf("%d bytes of %d", len(whole), len(b))
			}
			for _, g := range all {
				g.Clock()
				for x := range g.Batches() {
					for r := gowire.Numbers(x.Data); r.Kind() != 0; {
						r.Bytes(r.Next())
					}
				}
			}
		}
	}
}

// TestMemoryIsUsedAgain: a generation of many blocks has all its bytes, also in reused memory, and
// its reader returns them after the header.
func TestMemoryIsUsedAgain(t *testing.T) {
	one := sample(t, "1.22", 1)
	b := sample(t, "1.22", 6<<20/len(one))
	for range 3 {
		cut, err := gowire.NewCutter(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		g, err := cut.Next()
		if err != nil {
			t.Fatal(err)
		}
		whole, err := io.ReadAll(g.Reader())
		if err != nil || !bytes.Equal(whole, b) || g.Size() != int64(len(b)-gowire.HeaderSize) || len(g.Blocks()) < 3 {
			t.Fatalf("%d bytes of %d in %d blocks, %v", len(whole), len(b), len(g.Blocks()), err)
		}
		for _, x := range g.Blocks() {
			clear(x) // the next user of the memory must not see this
		}
		g.Free()
	}
}
