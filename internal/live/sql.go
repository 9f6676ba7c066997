package live

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/scopeview/scopeview/internal/query"
)

// Limits of an answer to a page.
const (
	answerRows  = 10_000
	answerBytes = 16 << 20 // of its values, about
	questionIn  = time.Minute
)

// sqlAnswer is the answer to a question of a page.
type sqlAnswer struct {
	Refused string   `json:"refused"` // a sentence: the reason why the question has no answer; empty: it has one
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"`
	More    string   `json:"more"`    // that there are more rows; empty: these are all
	Problem string   `json:"problem"` // a sentence: a part of the trace could not be read
	Notes   []string `json:"notes"`
}

// serveSQL answers an SQL question about the current trace.
func (s *Server) serveSQL(w http.ResponseWriter, r *http.Request, b *book) {
	largeAnswer(w)
	t, done, ok := reopened(w, r, b)
	if !ok {
		return
	}
	defer done()
	s.afterTiles()
	ctx, stop := context.WithTimeout(r.Context(), s.questionIn)
	defer stop()
	sel := b.of(t)
	q, err := query.New(ctx, t, &sel, r.URL.Query().Get("q"))
	if err != nil {
		s.refuseQuestion(w, r, err)
		return
	}
	defer q.Close()
	a := &sqlAnswer{Columns: append([]string{}, q.Columns...), Rows: [][]any{}}
	size := 0
	err = q.Each(func(row []any) bool {
		if len(a.Rows) == answerRows || size > answerBytes {
			a.More = "; there are more, which are not shown"
			return false
		}
		size += 16 * len(row)
		for i, v := range row {
			row[i] = forPage(v)
			if text, ok := row[i].(string); ok {
				size += len(text)
			}
		}
		a.Rows = append(a.Rows, row)
		return true
	})
	if err != nil {
		s.refuseQuestion(w, r, err)
		return
	}
	if err := q.Problem(); err != nil {
		a.Problem = "A part of the trace could not be read: " + sentence(err) + "."
	}
	a.Notes = append([]string{}, q.Notes()...)
	sendSQL(w, a)
}

func sendSQL(w http.ResponseWriter, a *sqlAnswer) {
	largeAnswer(w)
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(a)
}

// refuseQuestion answers a question that has no answer. That of the user's own mistake is no error of
// the request, which browsers would report.
func (s *Server) refuseQuestion(w http.ResponseWriter, r *http.Request, err error) {
	var of *query.Error
	switch {
	case errors.As(err, &of):
		sendSQL(w, &sqlAnswer{Refused: sentence(err)})
	case r.Context().Err() != nil:
	case errors.Is(err, context.DeadlineExceeded):
		sendSQL(w, &sqlAnswer{Refused: "The answer takes more than " + s.questionIn.String() + ": ask about a range of start_ns, or on the command line, where there is no limit."})
	default:
		refuse(w, http.StatusInternalServerError, sentence(err))
	}
}

// forPage returns a value for the page, whose numbers are doubles: an integer that they can't hold
// is a text.
func forPage(v any) any {
	switch v := v.(type) {
	case int64:
		if v > 1<<53 || v < -1<<53 {
			return strconv.FormatInt(v, 10)
		}
	case float64:
		if math.IsInf(v, 0) {
			return strconv.FormatFloat(v, 'g', -1, 64)
		}
	case []byte:
		return hex.EncodeToString(v)
	}
	return v
}
