package main

import (
	"fmt"
	"runtime"

	"github.com/scopeview/scopeview/bench/floor"
)

// hardware has the properties on which the results depend.
type hardware struct {
	cpu, kernel, fileSystem string
	cores                   int
}

func machine(dir string) hardware {
	h := hardware{cores: runtime.NumCPU()}
	h.cpu, h.kernel, h.fileSystem = describe(dir)
	return h
}

func (h hardware) name() string { return fmt.Sprintf("%s %d cpu", h.cpu, h.cores) }

func (h hardware) String() string {
	return fmt.Sprintf("%s, %d CPUs, %s, %s on %s, traces on %s; the floor reads %s twice\n",
		h.cpu, h.cores, h.kernel, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH, h.fileSystem, floor.Clock)
}
