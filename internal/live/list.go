package live

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/timeline"
)

var (
	//go:embed list.html
	listHTML string
	//go:embed list.css
	listCSS string

	listPage = template.Must(template.New("list").Parse(strings.Replace(listHTML, "{{.Style}}", listCSS, 1)))
	listCSP  = strict + "; style-src '" + hashOf(listCSS) + "'"
)

// hashOf is what a Content-Security-Policy calls a text.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// serveList shows the directory's traces.
func (s *Server) serveList(w http.ResponseWriter, r *http.Request) {
	items, others, err := s.shelf.list()
	if err != nil {
		refuse(w, http.StatusInternalServerError, sentence(err))
		return
	}
	type line struct {
		item
		Started, Bytes, State string
	}
	var lines []line
	for _, it := range items {
		lines = append(lines, line{it, it.Start.Format("2006-01-02 15:04:05"), bytesText(it.Size), stateText(it.Writer)})
	}
	zone, _ := time.Now().Zone()
	dir := strings.ToValidUTF8(s.shelf.path, "\uFFFD")
	var page bytes.Buffer
	err = listPage.Execute(&page, map[string]any{
		"Dir": dir, "Quoted": strconv.Quote(dir), "Zone": zone,
		"Items": lines, "Count": plural(len(lines), "trace", "traces"), "Others": othersText(others),
	})
	if err != nil {
		refuse(w, http.StatusInternalServerError, sentence(err))
		return
	}
	w.Header().Set("Content-Security-Policy", listCSP)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page.Bytes())
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func othersText(n int) string {
	if n == 0 {
		return ""
	}
	return "; " + plural(n, "file is", "files are") + " called *" + extension + " and can't be read as a trace"
}

func stateText(writer string) string {
	switch writer {
	case timeline.WriterRunning:
		return "running"
	case timeline.WriterGone:
		return "ended without Stop"
	case timeline.WriterClosed:
		return "closed"
	}
	return "not closed"
}

// bytesText is a number of bytes: 512 B, 1.5 KiB, 23.4 MiB.
func bytesText(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		if v /= 1024; v < 1023.95 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}
