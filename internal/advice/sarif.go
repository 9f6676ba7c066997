package advice

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sarifSchema is the schema of a SARIF log.
const sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"

// The parts of a SARIF 2.1.0 log that code review tools read (OASIS, sarif-v2.1.0). A library's
// types for the whole standard would have to be filled by the same code, and would save only these.
type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifPlace struct {
		Physical struct {
			Artifact struct {
				URI  string `json:"uri"`
				Base string `json:"uriBaseId,omitempty"`
			} `json:"artifactLocation"`
			Region struct {
				StartLine int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
		Message *sarifText `json:"message,omitempty"`
	}
	sarifFrame struct {
		Location sarifPlace `json:"location"`
	}
	sarifStack struct {
		Frames []sarifFrame `json:"frames"`
	}
	sarifRule struct {
		ID     string    `json:"id"`
		Short  sarifText `json:"shortDescription"`
		Config struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifResult struct {
		Rule         string            `json:"ruleId"`
		Index        int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifPlace      `json:"locations"`
		Stacks       []sarifStack      `json:"stacks,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Properties   map[string]any    `json:"properties"`
	}
)

// WriteSARIF writes the advice as a SARIF log. Paths are relative to dir, the source's root,
// if they lie in it.
func (r *Report) WriteSARIF(w io.Writer, dir, version string) error {
	var rules []sarifRule
	results := []sarifResult{}
	for _, f := range r.Findings {
		at := slices.IndexFunc(rules, func(x sarifRule) bool { return x.ID == f.ID })
		if at < 0 {
			at = len(rules)
			x := sarifRule{ID: f.ID, Short: sarifText{strings.ReplaceAll(f.ID, "-", " ")}}
			x.Config.Level = "note"
			rules = append(rules, x)
		}
		text := f.Advice + "; saves " + f.Saves()
		for _, e := range f.Evidence {
			text += ". Seen: " + e
		}
		for _, s := range f.Stoppers {
			text += ". But: " + s
		}
		x := sarifResult{Rule: f.ID, Index: at, Level: "note", Message: sarifText{text + "."}, Locations: []sarifPlace{sarifAt(f.Site, dir)},
			Fingerprints: map[string]string{"advice/v1": f.key()},
			Properties:   map[string]any{"improvement": f.Improvement, "ns": f.NS, "bytes": f.Bytes}}
		var s sarifStack
		for _, frame := range f.Stack {
			p := sarifAt(frame, dir)
			name, _, _ := strings.Cut(frame, " ")
			p.Message = &sarifText{name}
			s.Frames = append(s.Frames, sarifFrame{p})
		}
		if len(s.Frames) > 0 {
			x.Stacks = []sarifStack{s}
		}
		results = append(results, x)
	}
	if rules == nil {
		rules = []sarifRule{}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{
		"$schema": sarifSchema, "version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": "scopeview", "version": version, "informationUri": "https://github.com/scopeview/scopeview", "rules": rules}},
			"results": results,
		}},
	})
}

func sarifAt(frame, dir string) (p sarifPlace) {
	_, at, _ := strings.Cut(frame, " ")
	i := strings.LastIndexByte(at, ':')
	line := 1
	if i >= 0 {
		if n, err := strconv.Atoi(at[i+1:]); err == nil {
			line = max(n, 1)
		}
		at = at[:i]
	}
	path := Relative(at, dir)
	p.Physical.Region.StartLine = line
	p.Physical.Artifact.URI = filepath.ToSlash(path)
	if filepath.IsAbs(path) {
		p.Physical.Artifact.URI = "file://" + filepath.ToSlash(path)
	} else {
		p.Physical.Artifact.Base = "%SRCROOT%"
	}
	return p
}

// key identifies advice independently of line numbers: by the diagnostic, and the functions
// of the call stack.
func (f *Finding) key() string {
	parts := []string{f.ID, f.Type}
	for _, frame := range f.Stack {
		name, _, _ := strings.Cut(frame, " ")
		parts = append(parts, name)
	}
	return strings.Join(parts, "\t")
}
