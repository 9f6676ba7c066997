package scale

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// law returns the times of a program with these parameters on each of ns processors.
func law(single, sigma, kappa float64, ns ...int) []sample {
	var s []sample
	for _, n := range ns {
		f := fitted{Sigma: sigma, Kappa: kappa}
		s = append(s, sample{n, single / f.speedup(float64(n))})
	}
	return s
}

func TestFitFindsTheParametersOfExactTimes(t *testing.T) {
	for _, w := range []struct {
		sigma, kappa float64
		ns           []int
		dominant     loss
	}{
		{0, 0, []int{1, 2, 3, 4, 6, 8}, lossNone},
		{0.05, 0, []int{1, 2, 4, 8, 16, 32}, lossSerialization},
		{1, 0, []int{1, 2, 3, 4, 5, 6}, lossSerialization},
		{0, 0.01, []int{1, 2, 4, 8, 16, 32}, lossCoherence},
		{0.03, 0.0005, []int{1, 2, 4, 8, 16, 24, 32}, lossSerialization},
		{0.001, 0.02, []int{1, 2, 3, 4, 6, 8}, lossCoherence},
		{0.1, 0.001, []int{2, 4, 6, 8, 12, 64}, lossSerialization}, // without a run on one processor
	} {
		f, err := fitUSL(law(3e9, w.sigma, w.kappa, w.ns...))
		if err != nil {
			t.Fatalf("σ=%v κ=%v: %v", w.sigma, w.kappa, err)
		}
		if math.Abs(f.Sigma-w.sigma) > 1e-6 || math.Abs(f.Kappa-w.kappa) > 1e-6 || math.Abs(f.Single/3e9-1) > 1e-6 || f.Error > 1e-6 {
			t.Errorf("σ=%v κ=%v: fitted %+v", w.sigma, w.kappa, f)
		}
		if f.Sigma < 0 || f.Kappa < 0 {
			t.Errorf("σ=%v κ=%v: a loss is negative: %+v", w.sigma, w.kappa, f)
		}
		if d := f.dominant(float64(w.ns[len(w.ns)-1])); d != w.dominant {
			t.Errorf("σ=%v κ=%v: %s dominates, want %s", w.sigma, w.kappa, d, w.dominant)
		}
		peak, ok := f.peak()
		if ok != (w.kappa > 0) && f.Kappa > 1e-9 || ok && w.kappa > 0 && math.Abs(peak-math.Max(1, math.Sqrt((1-w.sigma)/w.kappa))) > 1e-2 {
			t.Errorf("σ=%v κ=%v: peak at %v, %v", w.sigma, w.kappa, peak, ok)
		}
	}
}

func TestFitOfNoisyTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []sample
	for range 5 {
		for _, s := range law(2, 0.08, 0.004, 1, 2, 4, 6, 8, 12, 16) {
			s.Time *= 1 + 0.03*rng.NormFloat64()
			all = append(all, s)
		}
	}
	f, err := fitUSL(all)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(f.Sigma-0.08) > 0.03 || math.Abs(f.Kappa-0.004) > 0.0015 || f.Error > 0.05 || f.Error < 0.01 {
		t.Errorf("fitted %+v", f)
	}
}

func TestFitNeverHasNegativeLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		s := law(1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8)
		for i := range s {
			s[i].Time *= math.Exp(0.5 * rng.NormFloat64()) // some of them superlinear
		}
		f, err := fitUSL(s)
		if err != nil || f.Sigma < 0 || f.Kappa < 0 || !(f.Single > 0) {
			t.Fatalf("%v: %+v, %v", s, f, err)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	for _, w := range []struct {
		s    []sample
		want string
	}{
		{nil, "0 numbers of processors are too few"},
		{law(1, 0, 0, 1, 2, 3, 4, 5), "5 numbers of processors are too few for the law's three parameters: give at least 6"},
		{law(1, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2), "2 numbers of processors"},
		{append(law(1, 0, 0, 1, 2, 3, 4, 5, 6), sample{7, 0}), "invalid time 0 on 7"},
		{append(law(1, 0, 0, 1, 2, 3, 4, 5, 6), sample{7, math.NaN()}), "invalid time NaN"},
		{append(law(1, 0, 0, 1, 2, 3, 4, 5, 6), sample{0, 1}), "on 0 processors"},
	} {
		if _, err := fitUSL(w.s); err == nil || !strings.Contains(err.Error(), w.want) {
			t.Errorf("%v: %v, want %q", w.s, err, w.want)
		}
	}
}
