package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/edsrzf/mmap-go"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/bulk"
)

// bigRows measures the tool on a trace of 30 M scopes with random times, on all processors
// and from the page cache. Each command runs in a process of its own. The floor is the speed
// of memory: a loop over the mapped file that adds up the starts and stops.
func bigRows(b *bench) []row {
	x, err := b.bigTrace(bulk.Irregular)
	if err != nil {
		return []row{broken("reading a big trace", err)}
	}
	defer os.Remove(x.path)
	rows := x.floors()
	for _, c := range []bigCommand{
		{"info", []string{"info", x.path, "--json"}, countInfo, 200, 60},
		{"top", []string{"top", x.path, "--json"}, countTop, 120, 40},
		{"csv", []string{"export", "csv", "--raw", x.path}, countLines(""), 30, 20},
		{"verify", []string{"verify", x.path}, x.countSound, 80, 30},
		{"dump", []string{"dump", x.path}, countLines("task "), 12, 6},
	} {
		rows = append(rows, x.rate(c))
	}
	rows = append(rows, x.html()...)
	return append(rows, x.packed()...)
}

// bigTrace is the trace that is measured, with the tools for it.
type bigTrace struct {
	b      *bench
	rounds int
	tool   *launcher
	path   string
	scopes int64
	floor  float64 // records per second that all processors add up
}

// bigCommand is a command of the tool whose rate is measured.
type bigCommand struct {
	name       string
	args       []string
	count      func(io.Reader) (int64, error) // number of scopes in its output
	goal, must float64                        // M/s
}

func (b *bench) bigTrace(shape bulk.Shape) (*bigTrace, error) {
	x := &bigTrace{b: b, rounds: 3, path: filepath.Join(b.dir, "big.scope"), scopes: 30_000_000}
	if b.short {
		x.scopes = 1_000_000
	}
	var err error
	if x.tool, err = b.launcher(); err != nil {
		return nil, err
	}
	f, err := os.Create(x.path)
	if err != nil {
		return nil, err
	}
	_, err = bulk.Trace{Shape: shape, Scopes: x.scopes, Seed: 1}.Write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	return x, err
}

// floors measures the reference of the commands.
func (x *bigTrace) floors() []row {
	f, err := os.Open(x.path)
	if err != nil {
		return []row{broken("the floor", err)}
	}
	defer f.Close()
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return []row{broken("the floor", err)}
	}
	defer m.Unmap()
	var rows []row
	for _, cpus := range []int{1, runtime.GOMAXPROCS(0)} {
		var rates []float64
		for round := range x.rounds + 1 {
			begin := time.Now()
			sum := addUp(m, cpus)
			if round > 0 { // the first one maps the pages
				rates = append(rates, float64(len(m)/format.RecordSize)/time.Since(begin).Seconds())
			}
			if sum == 0 {
				return []row{broken("the floor", fmt.Errorf("all records add up to nothing"))}
			}
		}
		x.floor = median(rates)
		rows = append(rows, row{name: fmt.Sprintf("the floor: start and stop of each record added up, %d CPUs", cpus), value: quantity{x.floor / 1e6, "M/s"}})
	}
	rows[0].name = strings.Replace(rows[0].name, "1 CPUs", "one CPU", 1)
	rows[len(rows)-1].floor = 1
	return rows
}

// addUp decodes and adds up the first two words of each 32 bytes.
func addUp(m []byte, cpus int) uint64 {
	sums := make([]uint64, cpus)
	var wait sync.WaitGroup
	part := len(m) / format.RecordSize / cpus * format.RecordSize
	for i := range cpus {
		wait.Go(func() {
			var sum uint64
			for b := m[i*part : (i+1)*part]; len(b) >= format.RecordSize; b = b[format.RecordSize:] {
				sum += binary.LittleEndian.Uint64(b[8:]) - binary.LittleEndian.Uint64(b)
			}
			sums[i] = sum
		})
	}
	wait.Wait()
	var sum uint64
	for _, s := range sums {
		sum += s
	}
	return sum
}

// rate measures a command. A separate run checks that it reads all scopes.
func (x *bigTrace) rate(c bigCommand) row {
	r, w := io.Pipe()
	cmd := exec.Command(x.tool.tool, c.args...)
	var errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	got := make(chan error, 1)
	go func() {
		n, err := c.count(r)
		_, _ = io.Copy(io.Discard, r)
		if err == nil && n != x.scopes {
			err = fmt.Errorf("%d scopes came out of a trace of %d", n, x.scopes)
		}
		got <- err
	}()
	err := cmd.Run()
	w.Close()
	if e := <-got; err == nil {
		err = e
	}
	if err != nil {
		return broken(c.name, fmt.Errorf("%w %s", err, errs.Bytes()))
	}
	var rates, cpu []float64
	for range x.rounds {
		cmd := exec.Command(x.tool.tool, c.args...) // its standard output is the null device
		begin := time.Now()
		if err := cmd.Run(); err != nil {
			return broken(c.name, err)
		}
		took := time.Since(begin)
		rates = append(rates, float64(x.scopes)/took.Seconds())
		cpu = append(cpu, (cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()/took.Seconds())
	}
	result := rateRow(c.name, median(rates), c.goal, c.must)
	result.floor = x.floor / median(rates)
	result.note = fmt.Sprintf("on %.1f CPUs", median(cpu))
	if x.b.short {
		result.judge = quantity{} // starting the process takes as long as reading
	}
	return result
}

// packed measures packing, and the use of a packed trace. The unpacked file is compared with
// the original.
func (x *bigTrace) packed() []row {
	packed, back := filepath.Join(x.b.dir, "big.scopez"), filepath.Join(x.b.dir, "back.scope")
	defer os.Remove(packed)
	defer os.Remove(back)
	timed := func(to string, args ...string) (perSecond float64, err error) {
		var rates []float64
		for range x.rounds {
			_ = os.Remove(to)
			u, err := x.tool.spent(append([]string{x.tool.tool}, args...)...)
			if err != nil {
				return 0, err
			}
			rates = append(rates, float64(x.scopes)/u.wall.Seconds())
		}
		return median(rates), nil
	}
	rate, err := timed(packed, "pack", x.path, "-o", packed)
	if err != nil {
		return []row{broken("pack", err)}
	}
	r := rateRow("pack", rate, 25, 10)
	r.floor = x.floor / rate
	st, err := os.Stat(packed)
	if err != nil {
		return []row{broken("pack", err)}
	}
	each := quantity{float64(st.Size()) / float64(x.scopes), "B"}
	rows := []row{r, {name: "packed, bytes per scope", value: each, judge: each, goal: 6, must: 6}}
	if rate, err = timed(back, "unpack", packed, "-o", back); err == nil {
		err = sameFile(x.path, back)
	}
	if err != nil {
		return append(rows, broken("unpack", err))
	}
	rows = append(rows, row{name: "unpack", value: quantity{rate / 1e6, "M/s"}, floor: x.floor / rate})
	c := bigCommand{name: "top of the packed trace", args: []string{"top", packed, "--json"}, count: countTop}
	r = x.rate(c)
	r.judge = quantity{}
	return append(rows, r)
}

// sameFile returns an error if two files differ.
func sameFile(a, b string) error {
	var sums [2][sha256.Size]byte
	for i, path := range []string{a, b} {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return err
		}
		h.Sum(sums[i][:0])
	}
	if sums[0] != sums[1] {
		return fmt.Errorf("%s is another file than %s", b, a)
	}
	return nil
}

// html measures the time and the memory for writing the timeline as one file.
func (x *bigTrace) html() []row {
	const name = "html"
	to := filepath.Join(x.b.dir, "big.html")
	defer os.Remove(to)
	var took, peaks []float64
	for range x.rounds {
		cmd := exec.Command(x.tool.tool, "html", x.path, "-o", to)
		begin := time.Now()
		if err := cmd.Start(); err != nil {
			return []row{broken(name, err)}
		}
		ended, memory := make(chan struct{}), make(chan int64)
		go func() { memory <- peakMemory(cmd.Process, ended) }()
		err := cmd.Wait()
		close(ended)
		peak := <-memory
		if err != nil {
			return []row{broken(name, err)}
		}
		took = append(took, time.Since(begin).Seconds())
		peaks = append(peaks, float64(peak)/(1<<20))
	}
	st, err := os.Stat(to)
	if err != nil {
		return []row{broken(name, err)}
	}
	ms, mib := quantity{1e3 * median(took), "ms"}, quantity{median(peaks), "MiB"}
	return []row{
		{name: name, value: ms, judge: ms, goal: 3000, must: 6000, floor: x.floor * median(took) / float64(x.scopes), note: fmt.Sprintf("%.1f MB", float64(st.Size())/1e6)},
		{name: name + ", memory at its peak", value: mib, judge: mib, goal: 300, must: 600},
	}
}

func countInfo(r io.Reader) (int64, error) {
	var d struct{ Records struct{ Total int64 } }
	err := json.NewDecoder(r).Decode(&d)
	return d.Records.Total, err
}

func countTop(r io.Reader) (n int64, err error) {
	var d struct{ Scopes []struct{ Count int64 } }
	err = json.NewDecoder(r).Decode(&d)
	for _, s := range d.Scopes {
		n += s.Count
	}
	return n, err
}

// countLines counts lines with a prefix; without a prefix, all lines except the header.
func countLines(begin string) func(r io.Reader) (int64, error) {
	return func(r io.Reader) (n int64, err error) {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			if bytes.HasPrefix(lines.Bytes(), []byte(begin)) {
				n++
			}
		}
		if begin == "" {
			n--
		}
		return n, lines.Err()
	}
}

// countSound is the count of verify, which prints none.
func (x *bigTrace) countSound(r io.Reader) (int64, error) {
	said, err := io.ReadAll(r)
	if err != nil || !bytes.HasSuffix(said, []byte(": sound\n")) {
		return 0, fmt.Errorf("verify says %q (%w)", said, err)
	}
	return x.scopes, nil
}
