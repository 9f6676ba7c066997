package main

import (
	_ "embed"
	"os"
	"path/filepath"
)

//go:embed ordinary/main.go
var ordinary []byte

// ordinaryBench is the program, built twice.
type ordinaryBench struct {
	b               *bench
	dir             string
	plain, recorded string
}

// ordinary builds the program in a module of its own.
func (b *bench) ordinary() (*ordinaryBench, error) {
	l, err := b.launcher()
	if err != nil {
		return nil, err
	}
	o := &ordinaryBench{b: b, dir: filepath.Join(b.dir, "ordinary")}
	o.plain, o.recorded = filepath.Join(o.dir, "plain"), filepath.Join(o.dir, "recorded")
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"go.mod": []byte("module ordinary\n\ngo 1.26\n"), "main.go": ordinary} {
		if err := os.WriteFile(filepath.Join(o.dir, name), text, 0o644); err != nil {
			return nil, err
		}
	}
	l.dir = o.dir
	if _, err := l.spent("go", "build", "-o", o.plain, "."); err != nil {
		return nil, err
	}
	_, err = l.spent(l.tool, "build", "-o", o.recorded, ".")
	return o, err
}
