package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// server returns the tool as a client starts it, with a directory of one trace.
func server(t *testing.T) (cmd *exec.Cmd, errs *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, parts := readScript(t, "testdata/store.txtar")
	parts[0].head = filepath.Join(dir, parts[0].head)
	writeFile(t, &parts[0])
	cmd, errs = exec.Command(self, "mcp", dir), &bytes.Buffer{}
	cmd.Env, cmd.Stderr = append(os.Environ(), asTool+"=1"), errs
	return cmd, errs
}

// TestMCP: a client that starts the tool gets answers, and the tool ends when the client
// disconnects.
func TestMCP(t *testing.T) {
	cmd, errs := server(t)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v, %s", err, errs)
	}
	for _, name := range []string{"top", "doctor"} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"trace": "store.scope"}})
		if err != nil || r.IsError || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "# scopeview "+name) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if err := c.Close(); err != nil || errs.Len() > 0 {
		t.Errorf("%v, %s", err, errs)
	}
}

// TestMCPBrokenRequests: the tool answers any input with errors, and ends with 0 when the client
// disconnects.
func TestMCPBrokenRequests(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	call := func(id int, args string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", id, args)
	}
	for _, c := range []struct {
		name, in string
		want     string // in its answer
	}{
		{"nothing", "", ""},
		{"no JSON", "hello\n", `"id":null,"error":{"code":-32700`},
		{"half a request", hello + `{"jsonrpc":"2.0","id":2,`, `"id":1`},
		{"an answer", hello + `{"jsonrpc":"2.0","id":7,"result":{}}` + "\n" + call(2, `{"name":"list"}`), "store.scope"},
		{"no method", hello + `{"jsonrpc":"2.0","id":2}` + "\n", `"id":2,"error":{"code":-32600`},
		{"a method that is none", hello + `{"jsonrpc":"2.0","id":2,"method":"record/start"}` + "\n", `"error"`},
		{"before the handshake", call(2, `{"name":"list"}`), `"error"`},
		{"a tool that is none", hello + call(2, `{"name":"shell","arguments":{"command":"id"}}`), `"error"`},
		{"arguments that are none", hello + call(2, `{"name":"top","arguments":[1]}`), `"id":2`},
		{"deep", hello + call(2, `{"name":"top","arguments":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}`), "-32700"},
		{"a line that is too long", hello + call(2, `{"name":"top","arguments":{"trace":"`+strings.Repeat("x", 1<<20)+`"}}`), `"id":2,"error":{"code":-32600`},
		{"no end of a line", strings.Repeat("[", 1<<20), ""},
		{"zeros", strings.Repeat("\x00", 4096) + "\n", "-32700"},
		{"a batch", hello + "[" + strings.TrimSpace(call(2, `{"name":"list"}`)) + "]\n", "store.scope"},
		{"what comes behind", hello + "hello\n[\n\x00\n" + call(2, `{"name":"list"}`), "store.scope"},
		{"a large id", hello + `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}` + "\n", `"id":9007199254740993`},
	} {
		cmd, errs := server(t)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		from, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		deadline := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
		_, _ = io.WriteString(in, c.in) // it may have ended before it read everything
		var out strings.Builder
		for lines := bufio.NewReader(from); !strings.Contains(out.String(), c.want); { // it ends when the client disconnects
			line, err := lines.ReadString('\n')
			if out.WriteString(line); err != nil {
				break
			}
		}
		in.Close()
		_, _ = io.Copy(&out, from)
		_ = cmd.Wait()
		deadline.Stop()
		if code := cmd.ProcessState.ExitCode(); code != exitOK || errs.Len() > 0 {
			t.Errorf("%s: exit code %d, %.300s", c.name, code, errs)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: it answers %.300s and lacks %q; %.300s", c.name, out.String(), c.want, errs)
		}
	}
}

// TestMCPUsage: arguments must be existing files or directories, not streams.
func TestMCPUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"mcp"}, exitUsage, "the directories and traces that may be read"},
		{[]string{"mcp", "http://localhost:1/debug/scope/"}, exitFailed, "not addresses or process numbers"},
		{[]string{"mcp", "4711"}, exitFailed, "not addresses or process numbers"},
		{[]string{"mcp", "."}, exitOK, ""},
		{[]string{"mcp", "mcp.go"}, exitFailed, "nor a file named like a trace"},
		{[]string{"mcp", ".", "--source", "mcp.go"}, exitFailed, "mcp.go"},
		{[]string{"mcp", ".", "--timeout", "0s"}, exitUsage, "above 0"},
	} {
		var out, errs bytes.Buffer
		s := &streams{in: strings.NewReader(""), out: &out, err: &errs}
		if code := execute(t.Context(), s, c.args); code != c.code || !strings.Contains(errs.String(), c.says) || out.Len() > 0 {
			t.Errorf("%q: exit code %d, %s%s", c.args, code, &errs, &out)
		}
	}
}
