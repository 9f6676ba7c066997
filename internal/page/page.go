package page

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
)

// Config is the page's configuration.
type Config struct {
	Home string `json:"home"`           // HomeFile, HomeLive
	Base string `json:"base,omitempty"` // live: path prefix of its requests, "/t/0/"
	With string `json:"with,omitempty"` // live: that of the trace to compare with; "": none
	List bool   `json:"list,omitempty"` // live: the server has a list of traces, at "/"
}

// Homes of a page.
const (
	HomeFile = "file" // the data is in the page
	HomeLive = "live" // the page requests it from a server
)

const policyMark = "<!--csp-->"

// Policy returns the content security policy of a page: it allows only the page's own script
// and style, and requests only to its server if it has one.
func Policy(home string) (string, error) {
	p, err := parts()
	if err != nil {
		return "", err
	}
	connect := "'none'"
	if home == HomeLive {
		connect = "'self'"
	}
	return fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; connect-src %s; base-uri 'none'; form-action 'none'",
		p.script, p.style, connect), nil
}

// Page writes the page without data.
func Page(w io.Writer, c Config) error { return write(w, c) }

// ids are the ids of the elements with the data: of the trace, and of one to compare with.
var ids = []string{"data", "with"}

// write writes the page with containers in it.
func write(w io.Writer, c Config, data ...*payload) error {
	p, err := parts()
	if err != nil {
		return err
	}
	policy, err := Policy(c.Home)
	if err != nil {
		return err
	}
	config, err := json.Marshal(c) // escapes <, > and &
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 64<<10)
	b.Write(bytes.Replace(p.head, []byte(policyMark), []byte(`<meta http-equiv="Content-Security-Policy" content="`+policy+`">`), 1))
	fmt.Fprintf(b, "<script id=\"config\" type=\"application/json\">%s</script>\n", config)
	for i, d := range data {
		fmt.Fprintf(b, `<script id="%s" type="application/octet-stream">`, ids[i])
		z := base64.NewEncoder(base64.StdEncoding, b)
		if err := d.to(z); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		b.WriteString("</script>")
	}
	b.Write(p.body)
	return b.Flush()
}
