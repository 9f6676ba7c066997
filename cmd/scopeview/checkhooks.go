package main

import (
	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/report"
)

func newCheckHooks(c *call) func() error {
	return func() error {
		cache, err := build.OpenCache()
		if err != nil {
			return err
		}
		hooks, version, err := build.CheckHooks(c.context(), cache, "")
		if err != nil {
			return err
		}
		d := hookDocument{Go: version}
		code := exitOK
		for _, h := range hooks {
			d.Hooks = append(d.Hooks, hookState{h.Name, h.What, h.Works, h.Why})
			if !h.Works {
				code = exitFailed
			}
		}
		if err := c.showReport(&report.Report{Text: d.text, Document: &d}); err != nil || code == exitOK {
			return err
		}
		return &exit{code: code}
	}
}

// hookDocument is the document of check-hooks.
type hookDocument struct {
	Go    string      `json:"go" says:"the version of the go command that was tried"`
	Hooks []hookState `json:"hooks"`
}

type hookState struct {
	Name  string `json:"name" head:"hook" says:"the hook"`
	What  string `json:"what" prose:"" says:"the data it records"`
	Works bool   `json:"works" says:"its data was found in a trace"`
	Why   string `json:"why,omitempty" prose:"" says:"why it does not work"`
}

var hookTable = report.Table[hookState]{
	Text: "hook, =works, what, why",
	Cells: map[string]func(hookState) string{"works": func(h hookState) string {
		if h.Works {
			return "works"
		}
		return "off"
	}},
}

func (d *hookDocument) text(b *report.Text) {
	b.WriteString(d.Go + "\n")
	hookTable.Write(b, d.Hooks)
}
