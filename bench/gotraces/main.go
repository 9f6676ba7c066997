// Program gotraces writes a big Go execution trace: of goroutines that hand values on over
// channels, in regions and tasks, until the file has so many MB. -open measures how long it
// takes to open one, and the memory, beside go tool trace:
//
//	go run ./gotraces -mb 300 /tmp/big.trace
//	go run ./gotraces -open /tmp/big.trace -scopeview ./scopeview
package main

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	mb := flag.Int64("mb", 300, "how many MB the trace has")
	rings := flag.Int("rings", 8, "how many rings of goroutines there are")
	each := flag.Int("each", 25, "how many goroutines a ring has")
	every := flag.Int("every", 50, "one of so many values is handed on in a region of a task")
	open := flag.String("open", "", "measure how long it takes to open `TRACE`")
	tool := flag.String("scopeview", "scopeview", "the scopeview that is measured")
	patience := flag.Duration("patience", 10*time.Minute, "for how long go tool trace is waited for")
	only := flag.String("only", "", "measure only what is called so, as html")
	flag.Parse()
	var err error
	switch {
	case *open != "":
		err = measure(*tool, *open, *only, *patience)
	case flag.NArg() == 1:
		err = write(flag.Arg(0), *mb<<20, *rings, *each, *every)
	default:
		err = errors.New("give the file that is to be written, or -open")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// counted counts what was written.
type counted struct {
	io.Writer
	n atomic.Int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// write traces until the file has the requested size.
func write(path string, bytes int64, rings, each, every int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := &counted{Writer: f}
	if err := trace.Start(out); err != nil {
		return err
	}
	ctx, task := trace.NewTask(context.Background(), "run")
	var done atomic.Bool
	var wg sync.WaitGroup
	for range rings {
		first := make(chan int)
		in := first
		for range each - 1 {
			to := make(chan int)
			wg.Add(1)
			go hand(ctx, &wg, in, to, every)
			in = to
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer close(first)
			for n := 0; !done.Load(); n++ {
				first <- n
				<-in
			}
		}()
	}
	for out.n.Load() < bytes {
		time.Sleep(10 * time.Millisecond)
	}
	done.Store(true)
	wg.Wait()
	task.End()
	trace.Stop()
	return f.Close()
}

// hand passes values on.
func hand(ctx context.Context, wg *sync.WaitGroup, in <-chan int, to chan<- int, every int) {
	defer wg.Done()
	defer close(to)
	for n := range in {
		if n%every != 0 {
			to <- n
			continue
		}
		ctx, task := trace.NewTask(ctx, "value")
		trace.WithRegion(ctx, "hand on", func() { to <- n })
		task.End()
	}
}

// measure opens a trace by each method in turn.
func measure(tool, path, only string, patience time.Duration) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d MB, %d CPUs, %s\n\n%-52s %8s %8s %8s\n", filepath.Base(path), st.Size()>>20, runtime.NumCPU(), runtime.Version(), "", "s", "s of CPU", "MiB")
	for _, m := range []struct {
		what string
		run  func() (*exec.Cmd, error)
	}{
		{"scopeview info", func() (*exec.Cmd, error) { return finished(exec.Command(tool, "info", path)) }},
		{"scopeview top", func() (*exec.Cmd, error) { return finished(exec.Command(tool, "top", path)) }},
		{"scopeview serve, until the rows are there", func() (*exec.Cmd, error) { return page(tool, path, false) }},
		{"scopeview serve, until all that goroutines did is", func() (*exec.Cmd, error) { return page(tool, path, true) }},
		{"scopeview html", func() (*exec.Cmd, error) {
			return finished(exec.Command(tool, "html", path, "-o", path+".html"))
		}},
		{"go tool trace, until it serves", func() (*exec.Cmd, error) { return serves(path, patience) }},
	} {
		if !strings.Contains(m.what, only) {
			continue
		}
		begin := time.Now()
		c, err := m.run()
		took := fmt.Sprintf("%8.1f", time.Since(begin).Seconds())
		if err == errPatience {
			took, err = " > "+took[3:], nil
		}
		if c != nil && c.Process != nil && c.ProcessState == nil {
			c.Process.Kill()
			c.Wait()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.what, err)
		}
		memory := int64(0)
		if u, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
			memory = int64(u.Maxrss) >> 10
		}
		fmt.Printf("%-52s %s %8.1f %8d\n", m.what, took, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), memory)
	}
	if err := os.Remove(path + ".html"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func finished(c *exec.Cmd) (*exec.Cmd, error) {
	c.Stderr = os.Stderr
	return c, c.Run()
}

// errPatience reports that the server was not ready in time.
var errPatience = errors.New("it did not serve in time")

// serves starts go tool trace as the server of a trace.
func serves(path string, patience time.Duration) (*exec.Cmd, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := ln.Addr().String()
	ln.Close()
	out, err := exec.Command("go", "tool", "-n", "trace").Output() // killing go itself would not kill its tool
	if err != nil {
		return nil, err
	}
	c := exec.Command(strings.TrimSpace(string(out)), "-http="+addr, path)
	c.Env = append(os.Environ(), "BROWSER=true")
	says, err := c.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		io.Copy(io.Discard, says)
	}()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		select {
		case <-ended:
			return c, errors.New("it ended before it served: there may be too little memory")
		case <-time.After(100 * time.Millisecond):
		}
		if r, err := http.Get("http://" + addr + "/"); err == nil {
			r.Body.Close()
			return c, nil
		}
	}
	return c, errPatience
}

var token = regexp.MustCompile(`http://\S+`)

// page starts scopeview serve for a trace, and requests its data like the page.
func page(tool, path string, all bool) (*exec.Cmd, error) {
	c := exec.Command(tool, "serve", path)
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	b := make([]byte, 4096)
	n, err := out.Read(b)
	if err != nil {
		return c, err
	}
	address := token.FindString(string(b[:n]))
	if address == "" {
		return c, fmt.Errorf("no address: %q", b[:n])
	}
	return c, ask(address, all)
}

// ask requests the first data of the page; with all, it repeats until they include the
// states of goroutines.
func ask(address string, all bool) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	client := &http.Client{Jar: jar}
	get := func(address string) ([]byte, error) {
		r, err := client.Get(address)
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err == nil && r.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s: %s", address, r.Status, b)
		}
		return b, err
	}
	if _, err := get(address); err != nil {
		return err
	}
	base, _, _ := strings.Cut(address, "?")
	if _, err = get(base + "t/0/api/whole"); err != nil || !all {
		return err
	}
	for {
		b, err := get(base + fmt.Sprintf("t/0/api/waits?from=0&to=%d&px=1000", int64(time.Hour)))
		if err != nil {
			return err
		}
		if b, err = io.ReadAll(flate.NewReader(bytes.NewReader(b))); err != nil {
			return err
		}
		if !bytes.Contains(b[:min(len(b), 4096)], []byte(`"pending":true`)) && bytes.Contains(b, []byte(`"states":{`)) {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
}
