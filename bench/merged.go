package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/testing/bulk"
)

// mergedRows measures merging: how fast, and with how much memory. The traces are of one
// machine as little as of several, for all that they say; so each is read twice. What is
// written goes to the null device, which has no need of a second disk.
func mergedRows(b *bench) []row {
	const name = "merge of 20 traces of 10 M scopes"
	traces, scopes := 20, int64(10_000_000)
	if b.short {
		scopes = 50_000
	}
	tool, err := b.launcher()
	if err != nil {
		return []row{broken(name, err)}
	}
	args := []string{"merge", "-o", os.DevNull}
	for i := range traces {
		path := filepath.Join(b.dir, fmt.Sprintf("merge-%d.scope", i))
		defer os.Remove(path)
		f, err := os.Create(path)
		if err == nil {
			_, err = bulk.Trace{Shape: bulk.Irregular, Scopes: scopes, Seed: uint64(i)}.Write(f)
		}
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return []row{broken(name, err)}
		}
		args = append(args, path)
	}
	cmd := exec.Command(tool.tool, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return []row{broken(name, err)}
	}
	ended, memory := make(chan struct{}), make(chan int64)
	go func() { memory <- peakMemory(cmd.Process, ended) }()
	err = cmd.Wait()
	close(ended)
	peak, took := <-memory, time.Since(begin)
	all := int64(traces) * scopes
	if read := strings.ReplaceAll(said.String(), ",", ""); err == nil && !strings.Contains(read, fmt.Sprintf(" %d records", all)) {
		err = fmt.Errorf("%d records were to be merged: %s", all, said.Bytes())
	}
	if err != nil {
		return []row{broken(name, err)}
	}
	rate := rateRow(name, float64(all)/took.Seconds(), 10, 5)
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	rate.note = fmt.Sprintf("on %.1f CPUs", cpu/took.Seconds())
	if b.short {
		rate.judge = quantity{}
	}
	mib := quantity{float64(peak) / (1 << 20), "MiB"}
	return []row{rate, {name: "merge, memory at its peak", value: mib, judge: mib, goal: 256, must: 1024}}
}
