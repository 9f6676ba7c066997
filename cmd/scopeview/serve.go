package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"github.com/scopeview/scopeview/internal/live"
	"github.com/scopeview/scopeview/internal/show"
)

func newServe(c *call) func() error {
	addr := c.flags().String("addr", "127.0.0.1:0", "listen at `HOST:PORT`; 0: a free port")
	allow := c.flags().StringArray("allow-host", nil, "accept requests for host `NAME` too, beside localhost; may be repeated")
	all := c.flags().Bool("insecure-bind", false, "allow an --addr that other machines can reach; only the token protects the traces, and it is sent unencrypted")
	return func() error {
		path, err := findShelf(c.args[0])
		if err != nil {
			return err
		}
		if c.with != "" {
			if c.with, err = findTrace(c.with); err != nil {
				return err
			}
		}
		ln, err := listen(c.context(), *addr, *all)
		if err != nil {
			return err
		}
		defer ln.Close()
		if a := hostOf(ln.Addr().String()); !a.IsLoopback() {
			if !a.IsUnspecified() {
				host, _, _ := net.SplitHostPort(*addr)
				*allow = append(*allow, host, a.String())
			}
			fmt.Fprintf(c.s.err, "scopeview: other machines can reach %s: traces have file names and arguments, and only the token protects them, which is sent unencrypted\n", ln.Addr())
		}
		server, err := live.New(live.Options{Path: path, With: c.with, Of: c.sel.Selection, AllowHosts: *allow, Version: version(), Weights: machineWeights(), Bandwidth: c.bandwidth})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(c.s.out, server.Address(ln.Addr())); err != nil {
			return fmt.Errorf("writing to standard output: %w", err)
		}
		if c.openPage {
			remove, err := leadBrowser(c.context(), server.FirstPage(ln.Addr()), server.Entered())
			defer remove()
			if err != nil {
				fmt.Fprintf(c.s.err, "scopeview: %s; open the address yourself\n", show.Text(err.Error()))
			}
		}
		return server.Serve(c.context(), ln)
	}
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
		return nil, usagef("--addr %s: %w; use a tunnel (see --help), or add --insecure-bind", addr, errOthers)
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
// users seldom want with :8080.
func checkAddr(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usagef("--addr %s: want HOST:PORT, such as 127.0.0.1:8080", addr)
	}
	if host == "" {
		return usagef("--addr %s: give the host too, such as localhost%s", addr, addr)
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
