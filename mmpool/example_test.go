package mmpool_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/mmpool"
)

// A log has records of two words: a number, from 1 on, and its square.
type log struct {
	pool  *mmpool.Pool
	chunk int64
	words []uint64 // the free words of the chunk
}

func (l *log) append(n uint64) error {
	for len(l.words) < 2 {
		if l.chunk != 0 {
			l.pool.Seal(l.chunk)
			l.chunk = 0
		}
		idx, words, err := l.pool.Take()
		if err == mmpool.ErrBehind {
			runtime.Gosched()
			continue
		}
		if err != nil {
			return err
		}
		l.chunk, l.words = idx, words
	}
	l.words[1] = n * n
	atomic.StoreUint64(&l.words[0], n) // last: it completes the record
	l.words = l.words[2:]
	return nil
}

// read counts the records of a log, and reports whether they are complete and in order.
func read(path string) (records uint64, ok bool, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false, err
	}
	for chunk := mmpool.ChunkSize; chunk+mmpool.ChunkSize <= len(b); chunk += mmpool.ChunkSize {
		for at := chunk; at < chunk+mmpool.ChunkSize; at += 16 {
			n := binary.NativeEndian.Uint64(b[at:])
			if n == 0 {
				break
			}
			if records++; n != records || binary.NativeEndian.Uint64(b[at+8:]) != n*n {
				return records, false, nil
			}
		}
	}
	return records, true, nil
}

// A binary log of one's own, read as after a kill: the program has closed nothing.
func Example() {
	f, err := os.CreateTemp("", "log")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	p, err := mmpool.New(mmpool.Options{File: f, Heap: runtime.GOOS != "linux"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fl := flusher.New(flusher.Config{Pool: p, Every: 100 * time.Millisecond})
	fl.Start()
	l := log{pool: p}
	for n := range uint64(100_000) {
		if err := l.append(n + 1); err != nil {
			fmt.Println(err)
			return
		}
	}
	_ = fl.Save(false, l.chunk) // only needed for chunks on the heap; the next round would do it
	fl.Stop()
	if p.Copies() {
		_ = fl.Finish()
	}
	fmt.Println(read(f.Name()))
	fmt.Println(p.Close())
	// Output:
	// 100000 true <nil>
	// <nil>
}
