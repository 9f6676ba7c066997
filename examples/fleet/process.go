package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// roles are the services. A fleet has as many processes of each, one more or less.
var roles = []string{"front", "orders", "users", "stock", "mail"}

// addresses are the addresses of the services, by role.
type addresses map[string][]string

// options are the fleet's, for each process.
type options struct {
	Dir    string // for traces
	Rate   int    // requests per second, of all fronts together
	Fronts int
	Limit  time.Duration // duration from which a request is slow
	Count  time.Duration // interval of a stock service's counts
	Ring   int64
}

// assignment is the message to a process when all others run.
type assignment struct {
	Peers   addresses
	Options options
}

// called copies the executable to another name in dir, which its traces get. A symbolic link
// would not work: a program resolves those.
func called(exe, dir, name string) (path string, err error) {
	path = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if os.Link(exe, path) == nil {
		return path, nil
	}
	b, err := os.ReadFile(exe) // another file system
	if err == nil {
		err = os.WriteFile(path, b, 0o700)
	}
	return path, err
}

// process is a process of the fleet.
type process struct {
	role, address string
	cmd           *exec.Cmd
	in            io.WriteCloser // it ends when this is closed
}

// start starts a process, and waits for its address.
func start(exe, role string, stderr io.Writer) (*process, error) {
	p := &process{role: role, cmd: exec.Command(exe, "-as", role)}
	p.cmd.Stderr = stderr
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=2") // a ring has room for each processor
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting a %s: %w", role, err)
	}
	if p.address, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		p.in.Close()
		return nil, fmt.Errorf("a %s has no address: %w", role, p.cmd.Wait())
	}
	p.address = strings.TrimSpace(p.address)
	return p, nil
}

// assign starts the work of the process.
func (p *process) assign(t assignment) error {
	if err := json.NewEncoder(p.in).Encode(t); err != nil {
		return fmt.Errorf("sending a %s the others' addresses: %w", p.role, err)
	}
	return nil
}

// end ends the processes, one service after the other: clients first, while their servers
// still run.
func end(all []*process) {
	for _, role := range roles {
		for _, p := range all {
			if p.role == role {
				p.in.Close()
			}
		}
		for _, p := range all {
			if p.role == role {
				_ = p.cmd.Wait() // it has printed its errors itself
			}
		}
	}
}
