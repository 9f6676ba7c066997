package live

import (
	"encoding/json"
	"net/http"

	"github.com/scopeview/scopeview/internal/timeline"
)

// serveSummary sends the table of scopes in a part of a trace whose whole was merged: of
// their times in that part, or with whole=1 of whole scopes.
func (s *Server) serveSummary(w http.ResponseWriter, r *http.Request, b *book) {
	from, to, ok := span(w, r)
	if !ok {
		return
	}
	t, done, ok := reopened(w, r, b)
	if !ok {
		return
	}
	defer done()
	// A damaged trace is summed up as far as it is readable; the page has been informed.
	summary, err := timeline.Summarize(r.Context(), t, from, to, r.URL.Query().Get("whole") == "1", nil, s.afterTiles)
	largeAnswer(w)
	if summary == nil {
		if r.Context().Err() == nil {
			refuse(w, http.StatusInternalServerError, sentence(err))
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(summary)
}
