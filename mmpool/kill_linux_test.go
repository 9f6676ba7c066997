package mmpool_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/mmpool"
)

// TestKill kills a child that appends to a log: the file must have all records whose
// append the child had reported.
func TestKill(t *testing.T) {
	if path := os.Getenv("MMPOOL_LOG"); path != "" {
		child(path)
	}
	path := filepath.Join(t.TempDir(), "log")
	c := exec.Command(os.Args[0], "-test.run=^TestKill$")
	c.Env = append(os.Environ(), "MMPOOL_LOG="+path)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := uint64(0)
	for lines := bufio.NewScanner(out); said < 1_000_000 && lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "appended %d", &said); err != nil {
			if strings.Contains(lines.Text(), "not supported") {
				t.Skip(lines.Text())
			}
			t.Fatal(lines.Text())
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	n, ok, err := read(path)
	if err != nil || !ok || n < said || said < 1_000_000 {
		t.Errorf("%d records, whole and in order: %t; %d had been appended: %v", n, ok, said, err)
	}
}

// TestLimit: each of two pools has all chunks that its limit allows, and no more.
func TestLimit(t *testing.T) {
	for range 2 {
		f, err := os.Create(filepath.Join(t.TempDir(), "log"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p, err := mmpool.New(mmpool.Options{File: f, Limit: 40 * mmpool.ChunkSize})
		if err != nil {
			t.Skip(err)
		}
		defer p.Close()
		n := 0
		for ; err == nil; n++ {
			_, _, err = p.Take()
		}
		if n != 40 || err != mmpool.ErrFull {
			t.Errorf("%d chunks besides the first, then %v", n-1, err)
		}
	}
}

func child(path string) {
	fail := func(err error) {
		fmt.Println(err)
		os.Exit(1)
	}
	f, err := os.Create(path)
	if err != nil {
		fail(err)
	}
	p, err := mmpool.New(mmpool.Options{File: f})
	if err != nil {
		fail(err)
	}
	flusher.New(flusher.Config{Pool: p, Every: 10 * time.Millisecond}).Start()
	l := log{pool: p}
	for n := uint64(1); ; n++ {
		if err := l.append(n); err != nil {
			fail(err)
		}
		if n%100_000 == 0 {
			fmt.Println("appended", n)
		}
	}
}
