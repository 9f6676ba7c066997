package advice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/sys"
)

// Calibration is the content of a file of a machine's weights. Users may edit it.
type Calibration struct {
	CPU     string  `json:"cpu" says:"the model that they were measured on; empty: the built-in weights"`
	Go      string  `json:"go" says:"the version of Go that they were measured with"`
	Weights Weights `json:"weights" unit:"ns" says:"cost of an operation"`
}

// Calibrate measures the weights on this machine, each a few times for about each; the
// shortest time counts. Weights that are not measured keep their built-in values. report is
// called with the name of the next weight.
func Calibrate(each time.Duration, report func(weight string)) Weights {
	w := BuiltIn()
	ballast := make([]byte, 64<<20) // the collector runs no more often than in a program that uses some memory
	defer func() { runtime.KeepAlive([]any{ballast, sink, boxed, total}) }()
	for _, m := range slices.Concat(measured, measuredLists, measuredThreads) {
		report(m.weight)
		w[m.weight] = measure(each, m.f)
	}
	w[mapMove] = max(w[mapMove]-w[mapPut], 1)     // a map without a hint moves about as many entries as it gets
	w[chanWait] = max(w[chanWait]-2*w[chanOp], 1) // of an element that is sent and received
	w[swapWord] = max(w[swapWord]-w[sortedWords], 0.1)
	w[swapOther] = max(w[swapOther]-w[sortedOthers], 0.1)
	w[allocByte] = max(w[allocByte]-w[alreadyGrown]-w[copyByte], w[allocAgain])
	delete(w, alreadyGrown)
	delete(w, sortedWords)
	delete(w, sortedOthers)
	return w
}

// measure returns the CPU time of a unit of an operation in ns, which excludes the time of
// other programs. If it is not known, measure returns the wall time.
func measure(each time.Duration, f func(n int) int) float64 {
	n := 1
	best := 0.0
	for rounds := 0; rounds < 5; {
		began := time.Now()
		cpu, known := sys.ProcessClock()
		units := f(n)
		took := float64(time.Since(began))
		if then, ok := sys.ProcessClock(); known && ok {
			took = float64(then - cpu)
		}
		if took < float64(each) {
			n *= 2
			continue
		}
		if per := took / float64(units); rounds == 0 || per < best {
			best = per
		}
		rounds++
	}
	return best
}

// CalibrationFile returns the path of the weights of a machine with a CPU, in the user's
// cache directory. A tool with another set of weights has another file.
func CalibrationFile(cache, cpu string) string {
	names := slices.Sorted(maps.Keys(BuiltIn()))
	return filepath.Join(cache, fmt.Sprintf("weights-%x.json", hash(cpu+strings.Join(names, " "))))
}

func hash(s string) (h uint64) {
	h = 14695981039346656037
	for _, c := range []byte(s) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// LoadWeights reads a file of weights. Missing weights have their built-in values. known is
// false if there is no file.
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
			return w, false, fmt.Errorf("%s: weight %q = %g: the name is unknown, or the value negative; scopeview calibrate writes the file anew", path, name, v)
		}
	}
	maps.Copy(w, c.Weights)
	return w, true, nil
}

// Save writes the file.
func (c *Calibration) Save(path string) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return newfile.Replace(path, append(b, '\n'))
}
