package page

import (
	"os"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/advice"
)

// adviceMost is the maximum number of pieces of advice on a page, and of characteristics.
const adviceMost = 100

// Advice is the page's content from the raw file beside a trace.
type Advice struct {
	Raw   string `json:"raw"`             // the file's name
	Error string `json:"error,omitempty"` // sentence: why it can't be read
	*advice.Report
}

// AdviceOf reads the raw file beside the trace at path; nil: there is none. w are the
// weights, nil for the built-in ones.
func AdviceOf(path string, w advice.Weights) *Advice {
	if path == "" {
		return nil
	}
	r, raw, err := advice.OfTrace(path, adviceParams(w))
	return adviceSays(r, filepath.Base(raw), err)
}

// AdviceIn is like AdviceOf for a trace in a directory.
func AdviceIn(dir *os.Root, name string, w advice.Weights) *Advice {
	r, err := advice.OfTraceIn(dir, name, adviceParams(w))
	return adviceSays(r, advice.Beside(name), err)
}

func adviceParams(w advice.Weights) advice.Params {
	p := advice.DefaultParams()
	p.Count = adviceMost
	if w != nil {
		p.Weights = w
	}
	return p
}

func adviceSays(r *advice.Report, raw string, err error) *Advice {
	switch {
	case err != nil:
		return &Advice{Raw: raw, Error: "The advice could not be read: " + err.Error()}
	case r == nil:
		return nil
	}
	return &Advice{Raw: raw, Report: r}
}
