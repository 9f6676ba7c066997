package membench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/show"
)

// Options say how to measure.
type Options struct {
	Cores int // the most to use; 0: GOMAXPROCS
	// Time is the approximate duration of all measurements. 0: three seconds.
	Time time.Duration
	// Bytes is the size of all arrays together. 0: four times the last-level cache, and at most a
	// quarter of the free memory.
	Bytes int64
	// Progress, if not nil, is called before each measurement.
	Progress func(done, of int)
}

// Result holds the measurements of a machine's memory.
type Result struct {
	CPU       string  `json:"cpu" says:"its model; empty: not known"`
	Cores     int     `json:"cores" unit:"CPUs" says:"that this process may use"`
	Cache     int64   `json:"cache_bytes" unit:"bytes" says:"of the last level; 0: not known"`
	Arrays    int64   `json:"array_bytes" unit:"bytes" says:"of all arrays together"`
	Points    []point `json:"points"` // by cores
	Saturated int     `json:"saturated" unit:"CPUs" says:"number from which one more adds less than a tenth; 0: each adds more"`
	Doubt     string  `json:"doubt,omitempty" says:"why the numbers may be wrong"`
}

// point is the throughput of that many cores at once: the best of several measurements.
type point struct {
	Cores   int     `json:"cores" unit:"CPUs" says:"at once"`
	Copy    float64 `json:"copy_bytes_per_s" head:"copy" unit:"bytes per second" says:"read and written"`
	Triad   float64 `json:"triad_bytes_per_s" head:"triad" unit:"bytes per second" says:"of a[i] = b[i] + s·c[i]"`
	Compute float64 `json:"compute_per_s" unit:"steps per second" says:"of work that needs no memory"`

	MemoryInflation  float64 `json:"-" head:"inflation: memory" unit:"ratio"`
	ComputeInflation float64 `json:"-" head:"compute" unit:"ratio"`
}

// Inflation returns the points with the factors by which the same work takes longer there than on
// one core: work that only moves memory, and work that needs none.
func (r *Result) Inflation() []point {
	list := slices.Clone(r.Points)
	for i := range list {
		p, one := &list[i], &r.Points[0]
		n := float64(p.Cores) / float64(one.Cores)
		p.MemoryInflation, p.ComputeInflation = n*one.Copy/p.Copy, n*one.Compute/p.Compute
	}
	return list
}

// kernels are the measured loops. Each works on a goroutine's own arrays until end and returns the
// amount of its work. It checks the clock itself: while the loops use all processors, no other
// goroutine is sure to run in time to stop them.
var kernels = []struct {
	run   func(w *worker, end time.Time) float64
	value func(p *point) *float64
}{
	{copying, func(p *point) *float64 { return &p.Copy }},
	{triad, func(p *point) *float64 { return &p.Triad }},
	{compute, func(p *point) *float64 { return &p.Compute }},
}

// worker holds the arrays of one core.
type worker struct {
	a, b, c []float64
	sum     float64
}

// block is the number of elements between two looks at the clock.
const block = 1 << 15

func copying(w *worker, end time.Time) (bytes float64) {
	for {
		for i := 0; i+block <= len(w.a); i += block {
			if !time.Now().Before(end) {
				return bytes
			}
			bytes += 2 * 8 * float64(copy(w.a[i:i+block], w.b[i:i+block]))
		}
	}
}

func triad(w *worker, end time.Time) (bytes float64) {
	for {
		for i := 0; i+block <= len(w.a); i += block {
			if !time.Now().Before(end) {
				return bytes
			}
			a, b, c := w.a[i:i+block], w.b[i:i+block], w.c[i:i+block]
			for j := range a {
				a[j] = b[j] + 3*c[j]
			}
			bytes += 3 * 8 * block
		}
	}
}

func compute(w *worker, end time.Time) (steps float64) {
	x := w.sum + 1
	for time.Now().Before(end) {
		for range block {
			x = x*0.999999 + 0.000001
		}
		steps += block
	}
	w.sum = x
	return steps
}

// repeats is the number of measurements of each kernel; the best counts, because disturbances only
// make memory slower.
const repeats = 3

// Measure measures the memory's throughput. It uses the arrays' memory, and all the cores
// meanwhile.
func Measure(ctx context.Context, o Options) (*Result, error) {
	procs := runtime.GOMAXPROCS(0)
	if o.Cores < 0 || o.Cores > procs {
		return nil, fmt.Errorf("%d cores can't be measured: this process may use %d", o.Cores, procs)
	}
	if o.Cores == 0 {
		o.Cores = procs
	}
	if o.Time <= 0 {
		o.Time = 3 * time.Second
	}
	m := machine()
	r := &Result{CPU: m.cpu, Cores: procs, Cache: m.cache}
	r.Arrays, r.Doubt = arrays(o.Bytes, m, o.Cores)
	steps := counts(o.Cores)
	all := make([]*worker, o.Cores)
	each := int(r.Arrays / 3 / 8 / int64(o.Cores))
	for i := range all {
		all[i] = &worker{a: filled(each), b: filled(each), c: filled(each)}
	}
	of := len(steps) * len(kernels) * repeats
	d, done := o.Time/time.Duration(of), 0
	for _, n := range steps {
		r.Points = append(r.Points, point{Cores: n})
	}
	for range repeats { // the outermost loop: a disturbance rarely lasts for all repetitions
		for i, n := range steps {
			for _, k := range kernels {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				if o.Progress != nil {
					o.Progress(done, of)
				}
				done++
				v := k.value(&r.Points[i])
				*v = max(*v, rate(all[:n], d, k.run))
			}
		}
	}
	n, known := saturated(r.Points)
	if known {
		r.Saturated = n
		return r, nil
	}
	last := r.Inflation()[len(r.Points)-1]
	r.Doubt = join(r.Doubt, fmt.Sprintf("%d cores slow each other down %s times even in work that needs no memory: other programs run on them, or they are threads of fewer cores. It is not known whether memory is saturated", last.Cores, show.Ratio(last.ComputeInflation)))
	return r, nil
}

// rate runs the workers at once for d, each on its own thread, and returns the sum of their work
// per second.
func rate(ws []*worker, d time.Duration, run func(*worker, time.Time) float64) (sum float64) {
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	rates := make([]float64, len(ws))
	for i, w := range ws {
		ready.Add(1)
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			<-start
			begin := time.Now()
			n := run(w, begin.Add(d))
			rates[i] = n / time.Since(begin).Seconds()
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	for _, r := range rates {
		sum += r
	}
	return sum
}

// counts returns the numbers of cores to measure: all up to eight, then doubling.
func counts(cores int) (ns []int) {
	for n := 1; n <= cores; n++ {
		if n > 8 && n < cores {
			n = min(2*(n-1), cores)
		}
		ns = append(ns, n)
	}
	return ns
}

// saturated returns the number of cores from which on further ones add less than a tenth, 0 if
// none. If further cores add no computing power either, because they are threads of one core or
// because other programs run on them, nothing follows about memory: then known is false.
func saturated(ps []point) (n int, known bool) {
	last := ps[len(ps)-1]
	best := last.Copy
	for _, p := range ps {
		best = max(best, p.Copy)
	}
	for _, p := range ps[:len(ps)-1] {
		if best <= 1.1*p.Copy {
			return p.Cores, last.Compute >= p.Compute*(1+0.5*float64(last.Cores-p.Cores)/float64(p.Cores))
		}
	}
	return 0, true
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// filled returns an array whose pages are mapped.
func filled(n int) []float64 {
	a := make([]float64, n)
	for i := range a {
		a[i] = float64(i & 7)
	}
	return a
}
