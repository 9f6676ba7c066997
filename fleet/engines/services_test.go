package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopegrpc"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

// serviceVariable makes this program one of the services, and has the next one's address.
const serviceVariable, nextVariable, traceVariable = "ENGINES_SERVICE", "ENGINES_NEXT", "ENGINES_TRACE"

// What the shop asks the cart for, and how often.
var asked = []struct {
	path  string
	times int
}{
	{"fine", 5},   // which asks pay
	{"broken", 2}, // for which pay fails, and the cart with it
	{"gone", 2},   // 404
	{"busy", 3},   // 503
	{"panic", 1},
}

// refused is the number of requests to a closed port.
const refused = 2

// service runs the program as one of the services. It prints its address, and serves until
// its input ends.
func service(name string) error {
	if err := scope.Start(os.Getenv(traceVariable)); err != nil {
		return err
	}
	next := os.Getenv(nextVariable)
	if name == "shop" {
		return errors.Join(buy(next), scope.Stop())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var stop func() error
	if name == "pay" {
		s := grpc.NewServer(grpc.StatsHandler(scopegrpc.ServerHandler()))
		grpc_health_v1.RegisterHealthServer(s, payment{})
		go s.Serve(l)
		stop = func() error { s.GracefulStop(); return nil }
	} else {
		handler, err := cart(next)
		if err != nil {
			return err
		}
		s := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
		go s.Serve(l)
		stop = func() error { return s.Shutdown(context.Background()) }
	}
	fmt.Println(l.Addr())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return errors.Join(stop(), scope.Stop())
}

// buy asks the cart.
func buy(cart string) error {
	// Without kept connections: what fails on one of these is asked once more.
	client := http.Client{Transport: scopehttp.Transport(&http.Transport{DisableKeepAlives: true})}
	ask := func(url string) {
		ctx, span := scope.Context(context.Background(), "buy")
		defer span.End()
		r, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
		if answer, err := client.Do(r); err == nil {
			answer.Body.Close()
		}
	}
	for _, a := range asked {
		for range a.times {
			ask("http://" + cart + "/items/" + a.path)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	l.Close()
	for range refused {
		ask("http://" + l.Addr().String() + "/")
	}
	return nil
}

// cart answers the shop.
func cart(pay string) (http.Handler, error) {
	conn, err := grpc.NewClient(pay, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStatsHandler(scopegrpc.ClientHandler()))
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) {
		switch id := r.PathValue("id"); id {
		case "gone":
			w.WriteHeader(http.StatusNotFound)
		case "busy":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "panic":
			panic("broken")
		default:
			if _, err := grpc_health_v1.NewHealthClient(conn).Check(r.Context(), &grpc_health_v1.HealthCheckRequest{Service: id}); err != nil {
				w.WriteHeader(http.StatusBadGateway)
			}
		}
	})
	return scopehttp.Middleware(mux), nil
}

// payment answers the cart.
type payment struct {
	grpc_health_v1.UnimplementedHealthServer
}

func (payment) Check(_ context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if r.Service == "broken" {
		return nil, status.Error(codes.Internal, "broken")
	}
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
}

// record has the shop ask its cart, which asks pay, and returns the recordings of all three.
func record(t *testing.T, dir string) (traces []string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	begin := func(name, next string) (*exec.Cmd, io.Reader) {
		t.Helper()
		program, trace := filepath.Join(dir, name), filepath.Join(dir, name+".scope")
		if err := os.Link(exe, program); err != nil { // a service is called as its program
			t.Fatal(err)
		}
		traces = append(traces, trace)
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), serviceVariable+"="+name, nextVariable+"="+next, traceVariable+"="+trace)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		return cmd, out
	}
	serve := func(name, next string) (address string, stop func()) {
		t.Helper()
		cmd, out := begin(name, next)
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatalf("%s does not say where it serves: %v", name, err)
		}
		return strings.TrimSpace(line), func() {
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	pay, stopPay := serve("pay", "")
	cart, stopCart := serve("cart", pay)
	shop, _ := begin("shop", cart)
	if err := shop.Run(); err != nil {
		t.Fatal(err)
	}
	stopCart()
	stopPay()
	return traces
}
