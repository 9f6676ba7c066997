package advice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

// Calibration is the weights of a machine, as a file has them. It may be edited.
type Calibration struct {
	CPU     string  `json:"cpu"`
	Go      string  `json:"go"` // that they were measured with
	Weights Weights `json:"weights"`
}

// measured says how weights are measured: f does an operation n times, and returns how many of the
// weight's units those were.
var measured = []struct {
	weight string
	f      func(n int) (units int)
}{
	{CopyByte, func(n int) int {
		const size = 1 << 16 // as most arrays that grow, within the second cache
		a, b := make([]byte, size), make([]byte, size)
		for range n {
			copy(a, b)
		}
		return n * size
	}},
	{Alloc, func(n int) int {
		for range n {
			sink = make([]int, 4)
		}
		return n
	}},
	{AllocTiny, func(n int) int {
		for i := range n {
			boxed = i + 256 // below, Go has them already
		}
		return n
	}},
	{RegexpByte, func(n int) int {
		const pattern = `^[a-z]+-[0-9]+(\.[a-z]+)*$`
		for range n {
			boxed = regexp.MustCompile(pattern)
		}
		return n * len(pattern)
	}},
	{PoolUse, func(n int) int {
		p := sync.Pool{New: func() any { return new(int) }}
		for range n {
			p.Put(p.Get())
		}
		return n
	}},
	{AllocByte, func(n int) int {
		const size = 1 << 20
		for range n {
			sink = make([]int, size/8)
		}
		return n * size
	}},
	{MapMove, func(n int) int { // what it takes longer to fill a map without a hint, for each that moves
		const size = 1 << 13
		for range n {
			fill(map[int]int{}, size)
		}
		return n * size
	}},
	{MapPut, func(n int) int {
		const size = 1 << 13
		for range n {
			fill(make(map[int]int, size), size)
		}
		return n * size
	}},
	{MapGet, func(n int) int {
		m := numbers(1 << 13)
		sum := 0
		for i := range n {
			sum += m[i*7919&(1<<13-1)]
		}
		total = sum
		return n
	}},
	{MapStep, func(n int) int {
		m := numbers(1 << 13)
		sum := 0
		for range n {
			for _, v := range m {
				sum += v
			}
		}
		total = sum
		return n << 13
	}},
	{SliceStep, func(n int) int {
		s := make([]int, 1<<13)
		sum := 0
		for range n {
			for _, v := range s {
				sum += v
			}
		}
		total = sum
		return n << 13
	}},
	{Compare, func(n int) int {
		s := make([]int, 1<<10)
		for range n {
			total += slices.Index(s, 1)
		}
		return n << 10
	}},
}

// sink, boxed and total keep the compiler from leaving out what is measured.
var (
	sink  []int
	boxed any
	total int
)

func fill(m map[int]int, n int) {
	for i := range n {
		m[i] = i
	}
}

func numbers(n int) map[int]int {
	m := make(map[int]int, n)
	fill(m, n)
	return m
}

// Calibrate measures the weights on this machine: each a few times for about so long; the shortest
// counts. Those that are not measured stay as they are built in. told is called with the name of what is
// measured next.
func Calibrate(each time.Duration, told func(weight string)) Weights {
	w := BuiltIn()
	for _, m := range slices.Concat(measured, measuredThreads) {
		told(m.weight)
		w[m.weight] = measure(each, m.f)
	}
	w[MapMove] = max(w[MapMove]-w[MapPut], 1)     // a map without a hint moves about as many as it gets
	w[ChanWait] = max(w[ChanWait]-2*w[ChanOp], 1) // of an element that is sent and received
	return w
}

func measure(each time.Duration, f func(n int) int) float64 {
	n := 1
	best := 0.0
	for rounds := 0; rounds < 5; {
		began := time.Now()
		units := f(n)
		took := time.Since(began)
		if took < each {
			n *= 2
			continue
		}
		if per := float64(took) / float64(units); rounds == 0 || per < best {
			best = per
		}
		rounds++
	}
	return best
}

// CalibrationFile is where the weights of a machine with a CPU are kept, in the user's cache directory.
func CalibrationFile(cache, cpu string) string {
	return filepath.Join(cache, fmt.Sprintf("weights-%x.json", hash(cpu)))
}

func hash(s string) (h uint64) {
	h = 14695981039346656037
	for _, c := range []byte(s) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// LoadWeights reads a file of weights: what it does not have is built in. known is false where there is
// none.
func LoadWeights(path string) (w Weights, known bool, err error) {
	w = BuiltIn()
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return w, false, nil
	}
	if err != nil {
		return w, false, err
	}
	var c Calibration
	if err := json.Unmarshal(b, &c); err != nil {
		return w, false, fmt.Errorf("%s: %w; scopeview calibrate writes it anew", path, err)
	}
	for name, v := range c.Weights {
		if _, ok := w[name]; !ok || !(v >= 0) {
			return w, false, fmt.Errorf("%s: weight %q = %g: there is none of that name, or it is negative; scopeview calibrate writes the file anew", path, name, v)
		}
	}
	maps.Copy(w, c.Weights)
	return w, true, nil
}

// Save writes a file of weights.
func (c *Calibration) Save(path string) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
