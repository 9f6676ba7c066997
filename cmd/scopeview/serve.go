package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/live"
	"github.com/scopeview/scopeview/internal/show"
)

const serveHelp = `serve prints the address of a page for the browser: the timeline of the trace, which grows while the
program runs and stays when it has ended, or was killed. Of a directory it lists all traces, the newest
first, up to eight levels down: they are searched by program, build, host, time and slow names, and those that
are ticked are compared, or made one timeline. A trace of any length opens at once: the page gets what is looked at, as fine as it is drawn.

Only this machine is served, unless --insecure-bind is given, and only who has the address that was printed:
it has a token. The page goes through a tunnel too, on any port there. Ctrl-C ends.`

func newServe(s *streams) *cobra.Command {
	var (
		sel   selection
		addr  string
		with  string
		allow []string
		open  bool
		all   bool
	)
	cmd := &cobra.Command{
		Use:   "serve TRACE",
		Short: "Show the timeline in a browser, also while the program runs",
		Long:  serveHelp,
		Example: `  scopeview serve traces/ --open
  scopeview serve 4711
  scopeview serve before.scope --with after.scope

  on another machine:
  ssh -t -L 8080:localhost:8080 host scopeview serve traces/ --addr localhost:8080
  kubectl exec pod -- scopeview serve /traces --addr localhost:8080 & kubectl port-forward pod 8080`,
		Args:              oneTrace,
		ValidArgsFunction: completeTrace,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := sel.parse(); err != nil {
				return err
			}
			path, err := findShelf(args[0])
			if err != nil {
				return err
			}
			if with != "" {
				if with, err = findTrace(with); err != nil {
					return err
				}
			}
			ln, err := listen(cmd.Context(), addr, all)
			if err != nil {
				return err
			}
			defer ln.Close()
			if a := hostOf(ln.Addr().String()); !a.IsLoopback() {
				if !a.IsUnspecified() {
					host, _, _ := net.SplitHostPort(addr)
					allow = append(allow, host, a.String())
				}
				fmt.Fprintf(s.err, "scopeview: %s can be reached from other machines: traces hold file names and arguments, and the token, which goes over the network as it is, is all that protects them\n", ln.Addr())
			}
			server, err := live.New(live.Options{Path: path, With: with, Of: sel.Selection, AllowHosts: allow, Version: version(), Weights: machineWeights()})
			if err != nil {
				return err
			}
			address := server.Address(ln.Addr())
			if _, err := fmt.Fprintln(s.out, address); err != nil {
				return fmt.Errorf("writing to standard output: %w", err)
			}
			if open {
				remove, err := leadBrowser(cmd.Context(), address, server.Entered())
				defer remove()
				if err != nil {
					fmt.Fprintf(s.err, "scopeview: %s; open the address yourself\n", show.Text(err.Error()))
				}
			}
			return server.Serve(cmd.Context(), ln)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", "127.0.0.1:0", "listen at `HOST:PORT`; port 0 is a free one")
	withFlag(s, cmd, &with)
	sel.processes(cmd)
	sel.objects(cmd)
	cmd.Flags().StringArrayVar(&allow, "allow-host", nil, "also answer under this `NAME` or address, beside localhost (may be repeated)")
	cmd.Flags().BoolVar(&all, "insecure-bind", false, "let --addr be one that other machines can reach: what they get is protected by the token alone, which is not encrypted")
	cmd.Flags().BoolVar(&open, "open", false, "open the page in the browser")
	return cmd
}

// listen listens at addr, which only this machine can reach or, with all, others too.
func listen(ctx context.Context, addr string, all bool) (net.Listener, error) {
	if err := checkAddr(addr); err != nil {
		return nil, err
	}
	l := net.ListenConfig{}
	if !all {
		l.Control = loopbackOnly
	}
	ln, err := l.Listen(ctx, "tcp", addr)
	if errors.Is(err, errOthers) {
		return nil, usagef("--addr %s: %w; go through a tunnel (see --help), or add --insecure-bind", addr, errOthers)
	}
	if err != nil {
		return nil, fmt.Errorf("listening at %s: %w; give another with --addr", addr, err)
	}
	return ln, nil
}

var errOthers = errors.New("other machines could reach it")

// loopbackOnly refuses to listen at an address that other machines can reach. It runs before
// listening, when names have been resolved.
func loopbackOnly(_, addr string, _ syscall.RawConn) error {
	if !hostOf(addr).IsLoopback() {
		return errOthers
	}
	return nil
}

// findShelf is like findTrace, but returns a directory itself: serve shows all of it.
func findShelf(arg string) (string, error) {
	if st, err := os.Stat(arg); err == nil && st.IsDir() {
		return arg, nil
	}
	return findTrace(arg)
}

// checkAddr refuses an address without a host: to Go it means every address of the machine, which
// users who write :8080 seldom want.
func checkAddr(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usagef("--addr %s: want HOST:PORT, such as 127.0.0.1:8080", addr)
	}
	if host == "" {
		return usagef("--addr %s: name the host too, as in localhost%s", addr, addr)
	}
	return nil
}

// hostOf returns the address in HOST:PORT.
func hostOf(hostport string) netip.Addr {
	a, err := netip.ParseAddrPort(hostport)
	if err != nil {
		return netip.Addr{}
	}
	return a.Addr().Unmap()
}
