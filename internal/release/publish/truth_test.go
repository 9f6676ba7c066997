package publish

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestTruthReleaseInstalls: with all modules published to a file proxy, the instructions of
// the documents work in empty modules, in their order.
func TestTruthReleaseInstalls(t *testing.T) {
	if os.Getenv("SCOPEVIEW_TRUTH") == "" {
		t.Skip("installs and builds with modules of their own; make truth does")
	}
	proxy := t.TempDir()
	for _, dir := range Modules {
		publishTo(t, proxy, dir)
	}
	cache := output(t, ".", nil, "go", "env", "GOMODCACHE")
	// Not directly: the go command would query GitHub for each prefix of our paths.
	upstream := strings.TrimSuffix(output(t, ".", nil, "go", "env", "GOPROXY"), ",direct")
	work, bin := t.TempDir(), t.TempDir()
	env := append(os.Environ(), "GOPROXY=file://"+proxy+",file://"+filepath.Join(cache, "cache", "download")+","+upstream,
		"GOSUMDB=off", "GOVCS=*:off", "GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "GOBIN="+bin, "GOMODCACHE="+t.TempDir(), "CGO_ENABLED=0")
	run := func(command ...string) string { return output(t, work, env, command...) }

	run("go", "mod", "init", "example.com/user")
	run("go", "get", Root+"/scope@"+version)
	for _, dir := range Modules {
		if strings.HasPrefix(dir, "scope/") {
			run("go", "get", Root+"/"+dir+"@"+version)
		}
	}
	imports, err := os.ReadFile("testdata/imports.txt") // the imports of users, from all libraries
	if err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, filepath.Join(work, "main.go"), imports)
	if got := run("go", "run", "."); got != "true true true true <nil>" {
		t.Errorf("the program prints %q", got)
	}
	run("go", "install", Root+"/cmd/scopeview@"+version)
	run("go", "install", Root+"/fleet/cmd/scopeview-fleet@"+version)
	if got := run(filepath.Join(bin, "scopeview"), "version"); !strings.HasPrefix(got, "scopeview "+version) {
		t.Errorf("the tool is %q", got)
	}
	if got := run(filepath.Join(bin, "scopeview-fleet"), "--version"); got != version {
		t.Errorf("its companion is %q", got)
	}
	if got := run(filepath.Join(bin, "scopeview"), "top", "traces/"); !strings.Contains(got, "f1") {
		t.Errorf("the trace has %q", got)
	}
	run("go", "mod", "download", Root+"/fleet/duckdb@"+version) // building it needs a C++ compiler
}

// publishTo writes the files of a module proxy for the module in dir.
func publishTo(t *testing.T, proxy, dir string) {
	t.Helper()
	mod, err := GoMod(filetest.Read(t, filepath.Join(top, dir, "go.mod")), version)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSuffix(Root+"/"+dir, "/.")
	to := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": version + "\n", version + ".mod": string(mod),
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Unix(0, 0).UTC().Format(time.RFC3339))} {
		filetest.Write(t, filepath.Join(to, name), []byte(text))
	}
	f, err := os.Create(filepath.Join(to, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := modzip.Create(f, module.Version{Path: path, Version: version}, files(t, dir, mod)); err != nil {
		t.Fatal(err)
	}
}

// files returns the files of the module in dir that git tracks, with the release's go.mod.
func files(t *testing.T, dir string, mod []byte) (list []modzip.File) {
	t.Helper()
	all := strings.Split(output(t, filepath.Join(top, dir), nil, "git", "ls-files"), "\n")
	nested := slices.DeleteFunc(slices.Clone(all), func(f string) bool { return !strings.HasSuffix(f, "/go.mod") })
	for _, name := range all {
		if slices.ContainsFunc(nested, func(n string) bool { return strings.HasPrefix(name, strings.TrimSuffix(n, "go.mod")) }) {
			continue // of another module
		}
		f := file{name: name, path: filepath.Join(top, dir, name)}
		if name == "go.mod" {
			f.path = filepath.Join(t.TempDir(), "go.mod")
			filetest.Write(t, f.path, mod)
		}
		list = append(list, f)
	}
	return list
}

// file is a file for a module's zip.
type file struct{ name, path string }

func (f file) Path() string                 { return f.name }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.path) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.path) }

// output runs a command in dir and returns its output.
func output(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env = dir, env
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, &stderr)
	}
	return strings.TrimSpace(string(out))
}
