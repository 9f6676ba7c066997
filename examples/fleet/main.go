// Command fleet plays a fleet of services on one machine: it starts itself many times, and
// each process is one of five services that call one another over HTTP. All of them record
// into rings, and have scopehttp.Handler mounted:
//
//	go run ./examples/fleet -n 50 -for 60s -dir fleet
//
// A buyer's request comes to a front, which asks an orders service, which asks users, stock and
// mail. Every ten seconds a stock service counts what it has, and holds a lock for that: who
// wants to reserve something waits, and so does the request. Its front then writes a snapshot
// to fleet/slow.
//
// Every second process of a service can be of another build (-new), which takes three times as
// long for the name price.total. The addresses of all processes are in the file fleet/also, as
// scopeview snapshot --triggered takes them. docs/fleet.md goes on from here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.SetOutput(stderr)
	f := fleet{stderr: stderr}
	flags.IntVar(&f.n, "n", 50, "how many processes; five at least")
	flags.DurationVar(&f.length, "for", time.Minute, "how long they run")
	flags.StringVar(&f.dir, "dir", "fleet", "directory for traces, snapshots and addresses")
	flags.StringVar(&f.newer, "new", "", "executable that every second process of a service is, as built by -ldflags '-X main.build=new'")
	flags.IntVar(&f.o.Rate, "rate", 50, "requests per second, of all fronts together")
	flags.DurationVar(&f.o.Limit, "limit", 50*time.Millisecond, "from when on a request is slow")
	flags.DurationVar(&f.o.Count, "count", 10*time.Second, "how often a stock service counts")
	flags.Int64Var(&f.o.Ring, "ring", 4<<20, "bytes that each process keeps of its recording")
	as := flags.String("as", "", "be one service, with options from standard input")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 || f.n < len(roles) || f.length <= 0 || f.o.Rate < 1 || f.o.Count < time.Millisecond {
		fmt.Fprintf(stderr, "fleet: flags only; -n is at least %d, and -for, -rate and -count are more than 0\n", len(roles))
		return 2
	}
	err := error(nil)
	if *as != "" {
		err = serve(*as, stdin, stdout)
	} else {
		err = f.run(ctx, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "fleet:", err)
		return 1
	}
	return 0
}

// fleet is the process that starts the others.
type fleet struct {
	n      int
	length time.Duration
	dir    string
	newer  string
	o      options
	stderr io.Writer
}

// run starts all processes, and ends them after the requested time or when ctx is done.
func (f *fleet) run(ctx context.Context, stdout io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the own executable: %w", err)
	}
	if f.o.Dir, err = filepath.Abs(f.dir); err == nil {
		err = os.MkdirAll(f.o.Dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("making the directory for traces: %w", err)
	}
	f.o.Fronts = (f.n + len(roles) - 1) / len(roles)
	var all []*process
	defer func() { end(all) }()
	peers := addresses{}
	var also strings.Builder
	for i := range f.n {
		role, exe, of := roles[i%len(roles)], self, "old"
		if f.newer != "" && i/len(roles)%2 == 1 {
			exe, of = f.newer, "new"
		}
		own, err := called(exe, filepath.Join(f.o.Dir, "bin", of), role)
		if err != nil {
			return err
		}
		p, err := start(own, role, f.stderr)
		if err != nil {
			return err
		}
		all = append(all, p)
		peers[p.role] = append(peers[p.role], p.address)
		fmt.Fprintf(&also, "--also\n%s/debug/scope/\n", p.address)
	}
	if err := os.WriteFile(filepath.Join(f.o.Dir, "also"), []byte(also.String()), 0o600); err != nil {
		return err
	}
	for _, p := range all {
		if err := p.assign(assignment{peers, f.o}); err != nil {
			return err
		}
	}
	fmt.Fprintf(stdout, "%d processes run for %v; what is slow is kept in %s\n", f.n, f.length, filepath.Join(f.dir, "slow"))
	select {
	case <-ctx.Done():
	case <-time.After(f.length):
	}
	return nil
}
