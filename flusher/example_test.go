package flusher_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/mmpool"
)

// A program writes squares into a file, three chunks of them. It waits for each until the
// flusher has written it out and dropped its memory.
func Example() {
	f, err := os.CreateTemp("", "squares")
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
	rounds := make(chan struct{}, 1)
	fl := flusher.New(flusher.Config{Pool: p, Every: 10 * time.Millisecond, Round: func(time.Time) {
		select {
		case rounds <- struct{}{}:
		default:
		}
	}})
	fl.Start()
	for n := uint64(0); n < 3*mmpool.ChunkSize/8; {
		idx, words, err := p.Take() // New has prepared more than three
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range words {
			words[i] = n * n
			n++
		}
		p.Seal(idx)
		for p.State(idx) != flusher.Gone {
			<-rounds
		}
		fmt.Println("chunk", idx, "is written")
	}
	fl.Stop()
	fmt.Println(fl.Err(), fl.Finish(), p.Close())

	b, err := os.ReadFile(f.Name())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(binary.NativeEndian.Uint64(b[mmpool.ChunkSize+8*1000:]))
	// Output:
	// chunk 1 is written
	// chunk 2 is written
	// chunk 3 is written
	// <nil> <nil> <nil>
	// 1000000
}
