package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// command and reply are the messages of package runner, which has identical types.
type command struct {
	Do  string
	Row string
	N   int
	CPU int
	Dir string

	Filter string
}

type reply struct {
	NS       int64
	Recorded int64
	Lost     int64
	Recorder string
	Error    string
}

// runner is a process that runs slices.
type runner struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	enc *json.Encoder
	dec *json.Decoder
	dir string // for its trace
}

func (b *bench) startRunner(bin string) (*runner, error) {
	dir, err := os.MkdirTemp(b.dir, "runner-")
	if err != nil {
		return nil, fmt.Errorf("no directory for the trace: %w", err)
	}
	r := &runner{cmd: exec.Command(bin), dir: dir}
	r.cmd.Stderr = os.Stderr
	out, err := r.cmd.StdoutPipe()
	if err == nil {
		r.in, err = r.cmd.StdinPipe()
	}
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	r.enc, r.dec = json.NewEncoder(r.in), json.NewDecoder(out)
	return r, nil
}

// ask sends a command to the runner, and waits for the reply.
func (r *runner) ask(c command) (a reply, err error) {
	if err := r.enc.Encode(c); err != nil {
		return a, fmt.Errorf("the runner is gone: %w", err)
	}
	if err := r.dec.Decode(&a); err != nil {
		return a, fmt.Errorf("the runner does not answer: %w", err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// close ends the runner and removes its trace.
func (r *runner) close() {
	r.in.Close()
	_ = r.cmd.Wait() // errors were reported in replies
	os.RemoveAll(r.dir)
}
