package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/scopeview/scopeview/scope"
)

// process is the stock in a process of its own, which ends when its standard input does.
type process struct {
	url   string
	cmd   *exec.Cmd
	input io.Closer
}

func startStock(dir string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-stock", "-dir", dir)
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the stock's process: %w", err)
	}
	p := &process{cmd: cmd, input: input}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the stock says no address: %w", err), p.stop())
	}
	p.url = strings.TrimSpace(line)
	return p, nil
}

func (p *process) stop() error {
	p.input.Close()
	return p.cmd.Wait()
}

// beStock serves until standard input ends.
func beStock(dir string) (err error) {
	if err := record(dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scope.Stop()) }()
	s, err := serve(stockHandler())
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("http://" + s.Addr)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
