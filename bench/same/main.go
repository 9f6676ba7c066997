// Command same compares what two builds of scopeview print of big traces of all shapes, to
// the byte: it checks that an optimisation of reading has not changed anything else.
//
//	go build -o /tmp/old ../cmd/scopeview   of the revision before
//	go run ./same -old /tmp/old             builds the new one of the working tree
//
// It exits 1 when one differs, and says what both took.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/testing/bulk"
)

// commands are the compared commands: all that read a whole trace.
var commands = []string{
	"info", "info --json", "top", "top --json", "top --by track --json", "export csv --raw", "export csv", "verify", "dump", "states --json",
	"waits --json", "export perfetto", "export chrome", "html", "doctor --json", "stacks --json", "tail --from 0", "compare --json TRACE",
	"export csv --from 10ms --to 20ms", "top --name parse --json",
}

func main() {
	var (
		old  = flag.String("old", "", "the `executable` of scopeview as it was")
		now  = flag.String("new", "", "the `executable` as it is (default: built of the working tree)")
		n    = flag.Int64("n", 1_000_000, "scopes of each trace")
		only = flag.String("run", "", "only commands and shapes, as in \"export csv --raw, ring\", that match this `regexp`")
	)
	flag.Parse()
	if err := run(*old, *now, *n, *only); err != nil {
		fmt.Fprintln(os.Stderr, "same:", err)
		os.Exit(1)
	}
}

func run(old, now string, n int64, only string) error {
	if old == "" {
		return errors.New("-old says with what to compare")
	}
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	dir, err := os.MkdirTemp("", "scopeview-same-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if now == "" {
		now = filepath.Join(dir, "scopeview")
		build := exec.Command("go", "build", "-o", now, "./cmd/scopeview")
		build.Dir = ".." // run in the directory of the benchmarks
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building the new one: %w: %s", err, out)
		}
	}
	differ := 0
	for _, shape := range bulk.Shapes {
		path := filepath.Join(dir, string(shape)+".scope")
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		if _, err = (bulk.Trace{Shape: shape, Scopes: n, Seed: 1}).Write(f); err == nil {
			err = f.Close()
		}
		if err != nil {
			return err
		}
		for _, command := range commands {
			name := command + ", " + string(shape)
			if !match.MatchString(name) {
				continue
			}
			args := strings.Fields(strings.ReplaceAll(command, "TRACE", path))
			args = append(args[:1:1], append([]string{path}, args[1:]...)...)
			a, b := say(old, args), say(now, args)
			verdict := "same"
			if a.what() != b.what() {
				verdict = "DIFFERENT: " + a.what() + " and " + b.what()
				differ++
			}
			fmt.Printf("%-40s %6.2f s  %6.2f s  %s\n", name, a.took.Seconds(), b.took.Seconds(), verdict)
		}
		os.Remove(path)
	}
	if differ > 0 {
		return fmt.Errorf("%d outputs differ", differ)
	}
	return nil
}

// answer is the output of a command.
type answer struct {
	sum  [sha256.Size]byte // of the standard output
	size int64
	errs string
	exit int
	took time.Duration // CPU time
}

func (a *answer) what() string {
	return fmt.Sprintf("exit %d, %d bytes %x, %.200q", a.exit, a.size, a.sum[:4], a.errs)
}

// say runs a command.
func say(tool string, args []string) *answer {
	var errs, page bytes.Buffer
	sum := sha256.New()
	size := counter(0)
	cmd := exec.Command(tool, args...)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(sum, &size), &errs
	if args[0] == "html" {
		cmd.Stdout = &page
	}
	a := &answer{}
	if err := cmd.Run(); err != nil {
		a.exit = -1
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			a.exit = exit.ExitCode()
		}
	}
	a.took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if page.Len() > 0 {
		data := data(page.Bytes())
		sum.Write(data)
		size = counter(len(data))
	}
	a.errs, a.size = errs.String(), int64(size)
	sum.Sum(a.sum[:0])
	return a
}

// data returns the data of a page's trace: the code of the page may change.
func data(page []byte) []byte {
	if i := bytes.Index(page, []byte(`<script id="config"`)); i >= 0 {
		page = page[i:]
	}
	if i := bytes.Index(page, []byte(`<script type="module"`)); i >= 0 {
		page = page[:i]
	}
	return page
}

// counter counts bytes.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
