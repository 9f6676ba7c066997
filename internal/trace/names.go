package trace

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/format"
)

// Name is the text of a name id; "(name 17)" for an id that the trace does not
// define. It is raw: it may hold control characters and invalid UTF-8.
func (t *Trace) Name(id uint16) string {
	switch {
	case int(id) < len(t.named) && t.named[id]:
		return t.names[id]
	case id == format.NameEmpty:
		return ""
	case id == format.NameOther:
		return format.OtherNames
	}
	return fmt.Sprintf("(name %d)", id)
}

// Names lists every name: the index is the id. Ids that are not defined are "".
func (t *Trace) Names() []string {
	n := max(len(t.names), format.FirstName)
	names := make([]string, n)
	copy(names, t.names)
	if names[format.NameOther] == "" {
		names[format.NameOther] = format.OtherNames
	}
	return names
}
