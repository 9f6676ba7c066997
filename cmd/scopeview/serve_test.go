package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serving is a running serve.
type serving struct {
	t      *testing.T
	url    string
	client *http.Client
	stop   context.CancelFunc
	exited chan int
	errs   chan string
}

func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	return serveBy(t, append([]string{"serve"}, args...)...)
}

// serveBy runs a command that serves.
func serveBy(t *testing.T, args ...string) *serving {
	t.Helper()
	outR, outW := io.Pipe()
	var errs strings.Builder
	ctx, cancel := context.WithCancel(context.Background())
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &serving{t: t, client: &http.Client{Jar: jar, Timeout: time.Minute, Transport: &http.Transport{}}, stop: cancel, exited: make(chan int, 1), errs: make(chan string, 1)}
	go func() {
		code := execute(ctx, &streams{out: outW, err: &errs}, args)
		outW.Close()
		v.errs <- errs.String()
		v.exited <- code
	}()
	t.Cleanup(cancel)
	line, err := bufio.NewReader(outR).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v; %s", err, <-v.errs)
	}
	v.url = strings.TrimSuffix(line, "\n")
	return v
}

func (v *serving) get(address string) (status int, text string) {
	v.t.Helper()
	resp, err := v.client.Get(address)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// ends interrupts it.
func (v *serving) ends() (code int, errs string) {
	v.t.Helper()
	v.stop()
	select {
	case code = <-v.exited:
		return code, <-v.errs
	case <-time.After(time.Minute):
		v.t.Fatal("serve does not end")
		return 0, ""
	}
}

func TestServeFile(t *testing.T) {
	scriptTrace(t, "store")
	v := serve(t, "store.scope")
	u, err := url.Parse(v.url)
	if err != nil || u.Hostname() != "127.0.0.1" || len(u.Query().Get("token")) != 32 {
		t.Fatalf("address %s, %v", v.url, err)
	}
	if status, text := v.get("http://" + u.Host + "/"); status != http.StatusForbidden {
		t.Errorf("without token: %d %s", status, text)
	}
	if status, text := v.get(v.url); status != http.StatusOK || !strings.Contains(text, "<title>") {
		t.Errorf("the page: %d %s", status, text)
	}
	if status, text := v.get("http://" + u.Host + "/t/0/api/whole"); status != http.StatusOK || len(text) < 100 {
		t.Errorf("the data: %d, %d bytes", status, len(text))
	}
	if code, errs := v.ends(); code != exitOK || errs != "" {
		t.Errorf("exit %d, %s", code, errs)
	}
}

func TestServeDirectory(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"old.scope", "new.scope"} {
		startedAt(t, filepath.Join(dir, name), 100*(i+1))
	}
	v := serve(t, dir, "--addr", "localhost:0", "--allow-host", "pod.example.com")
	status, text := v.get(strings.Replace(v.url, "/?", "/list.json?", 1))
	if status != http.StatusOK || strings.Index(text, "new.scope") > strings.Index(text, "old.scope") || !strings.Contains(text, "old.scope") {
		t.Errorf("the list: %d %s", status, text)
	}
	if code, errs := v.ends(); code != exitOK || errs != "" {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestG28Bind: an address that others can reach is refused before listening; it requires a second
// flag, and a warning is printed.
func TestG28Bind(t *testing.T) {
	v := serve(t, t.TempDir(), "--addr", "0.0.0.0:0", "--insecure-bind")
	if u, err := url.Parse(v.url); err != nil || u.Hostname() != "127.0.0.1" {
		t.Errorf("address %s, %v", v.url, err)
	}
	if code, errs := v.ends(); code != exitOK || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "token") {
		t.Errorf("exit %d, %q", code, errs)
	}
	refused := []string{"0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0"}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			refused = append(refused, net.JoinHostPort(n.IP.String(), "0"))
		}
	}
	for _, addr := range refused {
		if r := scopeview("serve", t.TempDir(), "--addr", addr); r.code != exitUsage || r.out != "" || !strings.Contains(r.err, "--insecure-bind") {
			t.Errorf("%s: %v", addr, r)
		}
	}
	for args, want := range map[string]int{
		"--addr :8080": exitUsage, "--addr localhost": exitUsage, "--allow-host http://a": exitFailed, "--addr 192.0.2.1:0": exitUsage,
		"--addr 192.0.2.1:0 --insecure-bind": exitFailed, "--addr localhost:99999": exitFailed,
	} {
		if r := scopeview(append([]string{"serve", t.TempDir()}, strings.Fields(args)...)...); r.code != want || r.out != "" {
			t.Errorf("%s: %v", args, r)
		}
	}
	if r := scopeview("serve", filepath.Join(t.TempDir(), "none")); r.code != exitFailed || !strings.Contains(r.err, "no such file") {
		t.Errorf("%v", r)
	}
	t.Logf("G28: %d addresses that are not the loopback's: each refused before anything listened", len(refused))
}
