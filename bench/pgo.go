package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/report/ab"
)

// pgoRows measures the savings by a profile: examples/pgo records itself, the tool converts
// that to a profile, and builds with and without it alternate. The lower end of the interval
// of 95 % is judged.
func pgoRows(b *bench) []row {
	const name = "CPU time that its own profile saves examples/pgo"
	profile, root, err := b.profileOfExample()
	if err != nil {
		return []row{broken(name, err)}
	}
	o := ab.Options{Package: "./examples/pgo", Dir: root, Against: ab.Off, Profile: profile, Runs: 10, Args: []string{"-n", "1000"}}
	if b.short {
		o.Args = []string{"-n", "200"}
	}
	r, err := ab.Of(context.Background(), o, nil)
	if err != nil {
		return []row{broken(name, err)}
	}
	if r.Identical {
		return []row{broken(name, fmt.Errorf("the profile has changed nothing"))}
	}
	saved := func(change float64) float64 { return -100 * change }
	return []row{{
		name: name, value: quantity{saved(r.CPU.Change), "%"},
		judge: quantity{saved(r.CPU.High), "%"}, goal: 8, must: 3, least: true,
		note: fmt.Sprintf("95 %%: %.1f to %.1f %%, of %d runs each", saved(r.CPU.High), saved(r.CPU.Low), r.Runs),
	}}
}

// profileOfExample makes the example record itself, and returns the profile from that. root
// is the directory of the tool's module.
func (b *bench) profileOfExample() (profile, root string, err error) {
	if root, err = moduleRoot(); err != nil {
		return "", "", err
	}
	at := func(name string) string { return filepath.Join(b.dir, name) }
	profile = at("default.pgo")
	for _, args := range [][]string{
		{"go", "build", "-o", at("scopeview"), "./cmd/scopeview"},
		{"go", "build", "-o", at("before"), "./examples/pgo"},
		{at("before"), "-trace", at("traces")},
		{at("scopeview"), "pgo", "collect", at("traces"), "-o", profile},
	} {
		if err := runIn(root, args...); err != nil {
			return "", "", err
		}
	}
	return profile, root, nil
}
