// Package tool builds the command scopeview and runs it.
package tool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Tool is a built scopeview.
type Tool string

// Root is the directory of the main module.
func Root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/scopeview/scopeview").Output()
	if err != nil {
		return "", fmt.Errorf("where is scopeview's module? %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Build builds a command of the main module, say ./cmd/scopeview, into a
// directory.
func Build(dir, command string) (Tool, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, filepath.Base(command))
	if out, err := exec.Command("go", "build", "-C", root, "-o", bin, command).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s can't be built: %w\n%s", command, err, out)
	}
	return Tool(bin), nil
}

// Run runs it and returns its standard output.
func (t Tool) Run(args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.Command(string(t), args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("scopeview %s: %w: %s", strings.Join(args, " "), err, &errs)
	}
	return out.Bytes(), nil
}

// JSON runs it and decodes its standard output.
func (t Tool) JSON(v any, args ...string) error {
	out, err := t.Run(args...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, v); err != nil {
		return fmt.Errorf("scopeview %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// Server is scopeview serve, running.
type Server struct {
	URL string
	cmd *exec.Cmd
}

var address = regexp.MustCompile(`https?://\S+`)

// Serve starts scopeview serve and waits for its URL.
func (t Tool) Serve(args ...string) (*Server, error) {
	cmd := exec.Command(string(t), append([]string{"serve"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("scopeview serve: %w", err)
	}
	s := &Server{cmd: cmd}
	found := make(chan string, 1)
	go func() {
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if u := address.FindString(line); u != "" {
				found <- u
				break
			}
			if err != nil {
				close(found)
				return
			}
		}
		_, _ = io.Copy(io.Discard, r)
	}()
	select {
	case s.URL = <-found:
	case <-time.After(time.Minute):
	}
	if s.URL == "" {
		s.Close()
		return nil, fmt.Errorf("scopeview serve %s printed no URL", strings.Join(args, " "))
	}
	return s, nil
}

// PID is the server's process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Close ends the server.
func (s *Server) Close() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	late := time.AfterFunc(5*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait()
	late.Stop()
}
