package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMain makes the test binary the command that is run.
func TestMain(m *testing.M) {
	switch os.Getenv("RUNS_CHILD") {
	case "":
		os.Exit(m.Run())
	case "work":
		for end := time.Now().Add(20 * time.Millisecond); time.Now().Before(end); {
		}
	case "fail":
		fmt.Fprint(os.Stderr, strings.Repeat("much ", 10_000), "and then the reason\n")
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour)
	}
	os.Exit(0)
}

func child(ctx context.Context, kind string) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Args[0])
	c.Env = append(os.Environ(), "RUNS_CHILD="+kind)
	return c
}

func TestOnceMeasures(t *testing.T) {
	took, err := Once(child(t.Context(), "work"))
	if err != nil || took.Wall < 20e6 || took.User+took.System <= 0 {
		t.Errorf("%+v, %v", took, err)
	}
}

func TestOnceReturnsTheEndOfAFailedRunsOutput(t *testing.T) {
	_, err := Once(child(t.Context(), "fail"))
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("got %v, want exit code 3", err)
	}
	if text := err.Error(); !strings.HasPrefix(text, "exit status 3; it said:\n") || !strings.HasSuffix(text, "and then the reason") || len(text) > tailSize+100 {
		t.Errorf("got %d bytes: %s", len(text), text)
	}
}

func TestOnceEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Once(child(ctx, "hang")); err == nil || ctx.Err() == nil {
		t.Errorf("it returned %v, context %v", err, ctx.Err())
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		v    []int64
		want int64
	}{{[]int64{3}, 3}, {[]int64{9, 1, 2}, 2}, {[]int64{4, 1, 3, 2}, 2}, {[]int64{10, 20, 0, 40}, 15}} {
		before := fmt.Sprint(c.v)
		if got := Median(c.v); got != c.want || fmt.Sprint(c.v) != before {
			t.Errorf("the median of %s is %d, want %d; it leaves %v", before, got, c.want, c.v)
		}
	}
}
