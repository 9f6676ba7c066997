package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// rowsDocument sums up the rows of a table, and returns each function's numbers.
func rowsDocument(command string) func(*testing.T, string) facts {
	return func(t *testing.T, path string) facts {
		d, f := document(path, command), facts{}
		for _, x := range list(d, "rows") {
			for _, kind := range []string{"exclusive", "inclusive"} {
				values, _ := x[kind].(map[string]any)
				for metric, v := range values {
					if kind == "exclusive" {
						f.add("samples: "+metric, v.(float64))
					}
					if command == "profile" {
						f.add("function "+shown(x)+": "+kind+" "+metric, v.(float64))
					}
				}
			}
		}
		return f
	}
}

func rowsCSV(command string) func(*testing.T, string) facts {
	return func(t *testing.T, path string) facts {
		f := facts{}
		for _, r := range csvOf(t, path, command, path, "--format", "csv") {
			for head, text := range r {
				kind, metric, _ := strings.Cut(head, "_")
				v, ok := number0(text)
				if !ok || kind != "exclusive" && kind != "inclusive" || v == 0 {
					continue
				}
				if kind == "exclusive" {
					f.add("samples: "+metric, v)
				}
				f.add("function "+show.Name(r["name"])+": "+kind+" "+metric, v)
			}
		}
		return f
	}
}

// functionsText reads times in seconds.
func functionsText(t *testing.T, path string) facts {
	f := facts{}
	r := scopeview("profile", path, "-n", "0", "-m", "e.cpu:i.cpu:e.off:i.off")
	for _, row := range tables(r.out, "e.cpu") {
		of := "function " + row["function"] + ": "
		for _, head := range []string{"e.cpu", "i.cpu", "e.off", "i.off"} {
			kind, metric := map[byte]string{'e': "exclusive ", 'i': "inclusive "}[head[0]], head[2:]
			n, ok := cell(row[head] + "s")
			if !ok || row[head] == "" || row[head] == "0." { // zeros are left out elsewhere
				continue
			}
			if row["function"] != samples.TotalName {
				f.set(of+kind+metric, n)
			} else if kind == "inclusive " {
				f.set("samples: "+metric, n)
			}
		}
	}
	return f
}

// headerDocument returns the totals.
func headerDocument(t *testing.T, path string) facts {
	f := facts{}
	for _, x := range list(document(path, "profile --by metric"), "metrics") {
		if v, ok := x["total"].(float64); ok && v != 0 {
			f.set("samples: "+shown(x), number{low: v, high: v})
		}
	}
	return f
}

// pprofSums sums up a profile, read by the package of go tool pprof.
func pprofSums(t *testing.T, path string) facts {
	f := facts{}
	r := scopeview("export", "pprof", path)
	if r.code != 0 || r.out == "" {
		return f
	}
	p, err := profile.ParseData([]byte(r.out))
	if err != nil {
		t.Errorf("%s: go tool pprof can't read the profile: %v", filepath.Base(path), err)
		return f
	}
	for i, metric := range p.SampleType {
		for _, s := range p.Sample {
			v := float64(s.Value[i])
			if v == 0 {
				continue
			}
			f.add("samples: "+metric.Type, v)
			in, own := map[string]bool{}, true
			for _, l := range s.Location {
				for _, line := range l.Line {
					name := show.Name(line.Function.Name)
					if own {
						f.add("function "+name+": exclusive "+metric.Type, v)
					}
					if own = false; !in[name] {
						f.add("function "+name+": inclusive "+metric.Type, v)
					}
					in[name] = true
				}
			}
		}
	}
	return f
}
