package timeline

import "github.com/scopeview/scopeview/internal/trace"

// places are the places where names were given.
type places struct {
	Files []string `json:"files"`
	Of    [][4]any `json:"of"` // name, index of its file, line, function
}

func placesOf(list []trace.Place) *places {
	if len(list) == 0 {
		return nil
	}
	p, files := &places{}, map[string]int{}
	for _, x := range list {
		file, ok := files[x.File]
		if !ok {
			file = len(p.Files)
			files[x.File], p.Files = file, append(p.Files, x.File)
		}
		p.Of = append(p.Of, [4]any{x.Name, file, x.Line, x.Function})
	}
	return p
}

// Len returns the number of names with places.
func (p *places) Len() int {
	if p == nil {
		return 0
	}
	return len(p.Of)
}
