// Package traces creates traces with known contents: it runs small programs that record
// themselves, or writes the trace itself.
package traces

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"github.com/scopeview/scopeview/scope"
)

// program is the environment variable that turns an executable into one of the programs; its
// arguments are the trace's path and the program's size.
const program = "SCOPEVIEW_UITEST_PROGRAM"

// Main runs a program and exits, if this process was started for that.
func Main() {
	name := os.Getenv(program)
	if name == "" {
		return
	}
	if err := run(name, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		if errors.Is(err, errStalled) {
			os.Exit(Stalled)
		}
		os.Exit(1)
	}
	os.Exit(0)
}

func run(name, path, size string) error {
	p, ok := programs[name]
	if !ok {
		return errors.New("no such program")
	}
	n, err := strconv.Atoi(size)
	if err != nil {
		return err
	}
	if err := scope.Start(path, append(p.options, scope.WithLimit(scope.NoLimit))...); err != nil {
		return err
	}
	p.run(n)
	if err := scope.Stop(); err != nil {
		return err
	}
	if s := scope.Stats(); s.Lost.Total() > int64(p.mayLose*float64(n)) {
		return fmt.Errorf("%d records were lost: what is in the trace is not known", s.Lost.Total())
	}
	if took.other > 0 && took.other >= took.longest {
		return fmt.Errorf("%w: another scope took %v, that which is to be the longest %v", errStalled, took.other, took.longest)
	}
	return nil
}

// Stalled is the exit code of a program whose timing the machine spoiled: the trace is
// complete, but Longest or Blocked is not the longest.
const Stalled = 3

var errStalled = errors.New("the machine stalled")

// Record runs a program to its end, again if the machine stalled meanwhile.
func Record(path, name string, size int) error {
	for try := 1; ; try++ {
		cmd, err := command(path, name, size)
		if err != nil {
			return err
		}
		out, err := cmd.CombinedOutput()
		if err == nil {
			return nil
		}
		if try == 5 || cmd.ProcessState.ExitCode() != Stalled {
			return fmt.Errorf("recording %s: %w: %s", name, err, out)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
}

// Start starts a program and returns what it prints. Its trace exists once it
// has printed something.
func Start(path, name string, size int) (*exec.Cmd, io.Reader, error) {
	cmd, err := command(path, name, size)
	if err != nil {
		return nil, nil, err
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return cmd, out, nil
}

func command(path, name string, size int) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, path, strconv.Itoa(size))
	cmd.Env = append(os.Environ(), program+"="+name)
	return cmd, nil
}
