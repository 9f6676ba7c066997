package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// programSource is the source of the program of internal/symbols, with known results.
var programSource = filepath.Join("..", "..", "internal", "symbols", "testdata", "prog")

// program is the program, built in its own directory, which becomes the working directory, and
// x.scope: samples of it that appear to have been recorded there.
type program struct {
	dir, exe string
	trace    string // as text
}

// builtProgram builds it with flags, and records it in chunks of that many bytes.
func builtProgram(t *testing.T, chunk int, flags ...string) *program {
	t.Helper()
	source := filetest.Read(t, filepath.Join(programSource, "main.go"))
	dir := t.TempDir()
	t.Chdir(dir)
	p := &program{dir: filepath.Join(dir, "src"), exe: filepath.Join(dir, "prog")}
	for name, content := range map[string]string{"main.go": string(source), "go.mod": "module example.com/prog\n\ngo 1.26\n"} {
		if err := os.MkdirAll(p.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, filepath.Join(p.dir, name), []byte(content))
	}
	p.build(t, p.exe, flags...)
	b, err := symbols.Open(p.exe)
	if err != nil {
		t.Fatal(err)
	}
	f := b.Find("main.index")[0]
	pc := f.Entry
	for _, _, n := b.At(pc); n != 13; _, _, n = b.At(pc) {
		pc++
	}
	p.trace = fmt.Sprintf(`header path=go mono=100 chunk=%d
state closed=1 tick=9000
chunk blocks sealed
info "program" %q
info "build_id" %q
frame 262144 "main.index" %q line=13 start=12
frame 262145 "runtime.nobody" "/no/such/file.go" line=1 start=1
frame 262146 "[kernel]" "[kernel]"
stack 65536 262144 262145
code 65536 %#x 0x10
stack 65537 262146
code 65537 0xffffffff81001000
samples "task-clock" "nanoseconds" thread=12 base=500 until=900 lost=0 user:600:0:10000000:65536 user:700:0:10000000:65536 kernel:800:0:10000000:65537
stop ticks=9000
`, chunk, p.exe, b.BuildID, f.File, pc)
	p.record(t, "x.scope")
	return p
}

func (p *program) build(t *testing.T, exe string, flags ...string) {
	t.Helper()
	cmd := exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), ".")...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func (p *program) record(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, tracetest.Assemble(t, p.trace), 0o640); err != nil {
		t.Fatal(err)
	}
}

// looks are commands that need the executable and the sources.
var looks = []string{
	"source x.scope main.go", "source x.scope main.index", "source x.scope main.go --format csv",
	"disasm x.scope main.index", "disasm x.scope main.index --json", "profile x.scope --inline=false",
}

// TestArchive: source and disasm print the same when the executable and the sources are gone, and
// only the trace is left.
func TestArchive(t *testing.T) {
	for _, tc := range []struct {
		chunk int
		flags []string
	}{{65536, nil}, {65536, []string{"-ldflags=-s -w"}}, {4096, []string{"-ldflags=-compressdwarf=false"}}} {
		t.Run(fmt.Sprint(tc), func(t *testing.T) {
			p := builtProgram(t, tc.chunk, tc.flags...)
			var before []string
			for _, l := range looks {
				before = append(before, scopeview(strings.Fields(l)...).String())
			}
			if !strings.Contains(before[0], "return list[i] // checked") || !strings.Contains(before[3], "panicBounds") && !strings.Contains(before[3], "panicIndex") {
				t.Fatalf("%s\n%s", before[0], before[3])
			}
			source, err := os.Stat(filepath.Join(p.dir, "main.go"))
			if err != nil {
				t.Fatal(err)
			}
			r := scopeview("archive", "x.scope")
			if r.code != 0 || !strings.Contains(r.out, "x.scope: the executable (") || !strings.Contains(r.out, "and 1 source ("+show.Size(source.Size())+") stored in ") ||
				r.err != "scopeview: 1 source not found, and not stored: /no/such/file.go; give the directories with --path-map OLD=NEW\n" {
				t.Fatal(r)
			}
			if st, err := os.Stat("x.scope"); err != nil || st.Mode().Perm() != 0o640 {
				t.Errorf("%v, %v", st.Mode(), err)
			}
			tracetest.Verify(t, "x.scope")
			alone(t, p)
			for i, l := range looks {
				if after := scopeview(strings.Fields(l)...).String(); after != before[i] {
					t.Errorf("scopeview %s\n%s\nwas\n%s", l, after, before[i])
				}
			}
			if r := scopeview("info", "x.scope"); !strings.Contains(r.out, "archive         the executable, 1 source (") {
				t.Error(r)
			}
			if r := scopeview("archive", "x.scope"); r.code != 0 || r.out != "x.scope: all files that were found are stored already\n" {
				t.Errorf("a second time: %v", r)
			}
			if r := scopeview("anonymize", "x.scope", "-o", "given.scope"); r.code != 0 || !strings.Contains(r.err, "the executable and the sources (") {
				t.Error(r)
			}
			if tr := tracetest.OpenFile(t, "given.scope"); len(tr.Files()) > 0 || bytes.Contains(filetest.Read(t, "given.scope"), []byte("prog")) {
				t.Error("they are given away")
			}
			if r := scopeview("snapshot", "x.scope", "-o", "y.scope"); r.code != 0 || len(tracetest.OpenFile(t, "y.scope").Files()) != 2 {
				t.Errorf("a snapshot: %v", r)
			}
		})
	}
}

// alone removes the executable, the sources, and temporary files.
func alone(t *testing.T, p *program) {
	t.Helper()
	for _, path := range []string{p.exe, p.dir} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
}

// TestArchiveOfTrimpath: sources are stored by the names that the compiler recorded, are found by
// --path-map, and have the lines that were compiled, even if the files on disk change.
func TestArchiveOfTrimpath(t *testing.T) {
	p := builtProgram(t, 65536, "-trimpath")
	if r := scopeview("archive", "x.scope", "--sources", "all", "--path-map", "example.com/prog="+p.dir, "-o", "y.scope"); r.code != 0 || strings.Contains(r.err, "example.com") {
		t.Fatal(r)
	}
	names := map[string]bool{}
	for _, f := range tracetest.OpenFile(t, "y.scope").Files() {
		names[f.Name] = true
	}
	if !names[p.exe] || !names["example.com/prog/main.go"] || !names["runtime/proc.go"] || names["<autogenerated>"] {
		t.Errorf("%v", names)
	}
	if n := len(tracetest.OpenFile(t, "x.scope").Files()); n != 0 {
		t.Errorf("the trace itself has %d files", n)
	}
	changed := "package main\n\n// Of another day.\n"
	filetest.Write(t, filepath.Join(p.dir, "main.go"), []byte(changed))
	if err := os.Chtimes(p.exe, time.Time{}, time.Now().Add(-time.Hour)); err != nil { // it was built before
		t.Fatal(err)
	}
	if r := scopeview("source", "y.scope", "main.index"); r.code != 0 || !strings.Contains(r.out, "return list[i] // checked") {
		t.Error(r)
	}
	if r := scopeview("source", "y.scope", "main.go", "--path-map", "example.com/prog="+p.dir); r.code != 0 || !strings.Contains(r.out, "Of another day.") {
		t.Errorf("--path-map is asked first: %v", r)
	}
	if r := scopeview("source", "y.scope", "main.go", "--commentary"); r.code != 0 || !strings.Contains(r.out, "no compiler remarks") {
		t.Error(r)
	}
	// Sources can be added to a stored executable later.
	if r := scopeview("archive", "x.scope", "--sources", "none"); r.code != 0 || !strings.Contains(r.out, "0 sources") || r.err != "" {
		t.Error(r)
	}
	if r := scopeview("archive", "x.scope", "--path-map", "example.com/prog="+p.dir); r.code != 0 || !strings.Contains(r.out, fmt.Sprintf("x.scope: 1 source (%d B) stored in", len(changed))) ||
		!strings.Contains(r.err, "scopeview: 1 source changed after the executable was made, so lines may be others than those that ran: example.com/prog/main.go\n") {
		t.Error(r)
	}
	tracetest.Verify(t, "x.scope")
}

// TestArchiveRefuses: after a refusal or an interruption, the trace is unchanged and no file is
// left beside it: with an executable of another build, and with a trace that can't be replaced.
func TestArchiveRefuses(t *testing.T) {
	p := builtProgram(t, 4096)
	other := filepath.Join(p.dir, "other")
	p.build(t, other, "-ldflags=-X main.none=1 -buildid=other")
	was := filetest.Read(t, "x.scope")
	open := strings.NewReplacer("closed=1", "closed=0", "stop ticks=9000\n", "").Replace(p.trace)
	tracetest.Write(t, "open.scope", open)
	tracetest.Write(t, "torn.scope", strings.Replace(p.trace, "stop", "note ticks=2000 \"x\" crc=bad\nstop", 1))
	for args, want := range map[string]string{
		"x.scope --binary " + other: "is from another build: its id is \"other\", and the samples have ",
		"x.scope --binary x.scope":  "not an executable of a known format",
		"x.scope --binary none":     "no such file or directory",
		"open.scope":                "open.scope can't be replaced: it is not closed; make a copy with -o FILE",
		"torn.scope":                "torn.scope can't be replaced: it is damaged",
		"x.scope -o open.scope":     "open.scope: file already exists; give another name",
		"http://localhost:1/x":      "can't be changed; make a copy with -o FILE",
	} {
		if r := scopeview(append([]string{"archive"}, strings.Fields(args)...)...); r.code == 0 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %v", args, r)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := scopeviewOn(ctx, false, "archive", "x.scope"); r.code == 0 {
		t.Errorf("interrupted: %v", r)
	}
	if !bytes.Equal(filetest.Read(t, "x.scope"), was) {
		t.Error("the trace has changed")
	}
	if left, _ := filepath.Glob("*.tmp"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	tracetest.Write(t, "unsure.scope", regexp.MustCompile("(?m)^info \"build_id.*\n").ReplaceAllString(p.trace, ""))
	if r := scopeview("archive", "unsure.scope"); r.code != 0 || !strings.Contains(r.err, "can't check whether the executable is the one that ran") {
		t.Error(r)
	}
	if r := scopeview("archive", "open.scope", "-o", "copy.scope"); r.code != 0 || len(tracetest.OpenFile(t, "copy.scope").Files()) != 2 {
		t.Errorf("a copy of one that is not closed: %v", r)
	}
}

// TestArchiveDamaged: a damaged part affects only the commands that need it, which say so; storing
// again repairs it.
func TestArchiveDamaged(t *testing.T) {
	p := builtProgram(t, 65536)
	if r := scopeview("archive", "x.scope"); r.code != 0 {
		t.Fatal(r)
	}
	data := filetest.Read(t, "x.scope")
	for at := 65536; at < len(data); at += 65536 {
		for w := format.WalkBlocks(data[at:at+65536], format.ChunkHeaderSize); w.Next(); {
			part, err := format.DecodeFilePart(w.Payload)
			if w.Type == format.BlockFile && err == nil && (part.Offset == 0 || part.Kind == format.FileSource) {
				data[at+w.To-9] ^= 1
			}
		}
	}
	filetest.Write(t, "x.scope", data)
	lost := "the part at byte 0 of the stored file " + p.exe + " is missing"
	for args, want := range map[string]string{
		"disasm x.scope main.index":           lost + "; name it with --binary FILE",
		"profile x.scope":                     "main.index",
		"profile x.scope --inline=false":      lost,
		"info x.scope":                        "a file block is torn and skipped",
		"archive x.scope":                     "x.scope can't be replaced: it is damaged",
		"archive x.scope -o y.scope":          lost + "; name it with --binary FILE",
		"disasm x.scope index --binary prog ": "return list[i] // checked",
	} {
		if r := scopeview(strings.Fields(args)...); !strings.Contains(r.out+r.err, want) {
			t.Errorf("%s: %v", args, r)
		}
	}
	if r := scopeview("archive", "x.scope", "--binary", p.exe, "-o", "y.scope"); r.code != 0 {
		t.Fatal(r)
	}
	alone := scopeview("disasm", "y.scope", "main.index")
	if alone.code != exitFailed || !strings.Contains(alone.out, "return list[i] // checked") || !strings.Contains(alone.err, "y.scope is damaged") {
		t.Error(alone)
	}
}

// TestArchiveOfRing: a ring keeps the files stored with it.
func TestArchiveOfRing(t *testing.T) {
	p := builtProgram(t, 4096)
	head, rest, _ := strings.Cut(p.trace, "chunk blocks sealed\n")
	facts, samples, _ := strings.Cut(rest, "samples ")
	samples, _, _ = strings.Cut(samples, "stop")
	p.trace = strings.Replace(head, "path=go", "path=go ring=4", 1) + "chunk blocks flags=final,kept sealed\n" + facts + "stop ticks=9000\nchunk blocks number=1 sealed\nsamples " + samples
	p.record(t, "x.scope")
	if r := scopeview("archive", "x.scope"); r.code != 0 {
		t.Fatal(r)
	}
	tracetest.Verify(t, "x.scope")
	if r := scopeview("source", "x.scope", "main.index"); r.code != 0 || !strings.Contains(r.out, "return list[i] // checked") {
		t.Error(r)
	}
}

// TestArchiveKilled: if archive is killed, the trace is unchanged or has all the files, is sound,
// and the next archive completes it. It is killed at every stage from its start to its end.
func TestArchiveKilled(t *testing.T) {
	p := builtProgram(t, 65536)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	archive := func(after time.Duration) (took time.Duration) {
		cmd := exec.Command(self, "-test.run=^TestArchiveVictim$")
		cmd.Env = append(os.Environ(), "SCOPEVIEW_TEST_ARCHIVE=1")
		begin := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
		_ = cmd.Wait()
		return time.Since(begin)
	}
	original := filetest.Read(t, "x.scope")
	whole := archive(time.Minute)
	if n := len(tracetest.OpenFile(t, "x.scope").Files()); n != 2 {
		t.Fatalf("%d files are stored, want 2", n)
	}
	const kills = 24
	before, after, left := 0, 0, 0
	for i := range kills {
		p.record(t, "x.scope")
		delay := whole * time.Duration(i) / kills
		if i == kills-1 {
			delay = time.Minute // even on a busy machine, one run must complete
		}
		archive(delay)
		tracetest.Verify(t, "x.scope")
		switch files := tracetest.OpenFile(t, "x.scope").Files(); {
		case bytes.Equal(filetest.Read(t, "x.scope"), original):
			before++
		case len(files) == 2 && !files[0].Missing && !files[1].Missing:
			after++
		default:
			t.Errorf("killed after %v of %v it has %d files: %+v", delay, whole, len(files), files)
		}
		if r := scopeview("archive", "x.scope"); r.code != 0 || len(tracetest.OpenFile(t, "x.scope").Files()) != 2 {
			t.Errorf("archived again: %v", r)
		}
		unfinished, err := filepath.Glob("x.scope.*.tmp")
		if err != nil {
			t.Fatal(err)
		}
		left += len(unfinished)
		for _, path := range unfinished {
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		}
	}
	t.Logf("of %d traces %d were as before, %d complete; %d times it was killed while it wrote", kills, before, after, left)
	if before == 0 || after == 0 {
		t.Error("it was never killed before its end, or never done")
	}
}

// TestArchiveVictim is the archive process that TestArchiveKilled kills.
func TestArchiveVictim(t *testing.T) {
	if os.Getenv("SCOPEVIEW_TEST_ARCHIVE") == "" {
		t.Skip("it is killed by TestArchiveKilled")
	}
	if r := scopeview("archive", "x.scope"); r.code != 0 {
		t.Error(r)
	}
}
