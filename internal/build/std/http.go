package std

// httpCode is added to net/http for the scopes of its requests.
const httpCode = `type scopeviewServing struct {
	a, b     int64
	w        ResponseWriter
	req      *Request
	known    string // the pattern that its name is of
	returned bool   // the handler has; else it panics
}

func (s *scopeviewServing) begin(handler Handler, w ResponseWriter, req *Request) {
	if req.URL == nil {
		return
	}
	if mux, ok := handler.(*ServeMux); ok && !use121 && req.RequestURI != "*" {
		_, s.known, _, _ = mux.findHandler(req)
	}
	parent := ""
	if all := req.Header["Traceparent"]; len(all) == 1 {
		parent = all[0]
	}
	next, a, b := scopeviewRequest(req.Context(), req.Method, s.known, req.URL.Path, req.Header.Get("X-Request-Id"), parent, req.Header["Tracestate"])
	if ctx, ok := next.(context.Context); ok {
		req.ctx = ctx // the server has just made the request
	}
	s.a, s.b, s.w, s.req = a, b, w, req
}

// scopeviewSent sends a request, with the trace context in its header if the user wants that.
func scopeviewSent(t *Transport, req *Request) (*Response, error) {
	if req == nil || req.URL == nil {
		return t.roundTrip(req)
	}
	a, b, parent, state := scopeviewSend(req.Context(), req.Method, req.URL.Host, req.URL.Path, req.Header["Traceparent"])
	if b == 0 {
		return t.roundTrip(req)
	}
	sent := req
	if parent != "" {
		sent = req.WithContext(req.Context())
		if sent.Header = req.Header.Clone(); sent.Header == nil {
			sent.Header = Header{}
		}
		sent.Header["Traceparent"] = []string{parent}
		if delete(sent.Header, "Tracestate"); state != "" {
			sent.Header["Tracestate"] = []string{state}
		}
	}
	resp, err := t.roundTrip(sent)
	status := 0
	if resp != nil {
		status = resp.StatusCode
		if resp.Request == sent {
			resp.Request = req
		}
	}
	scopeviewAnswered(a, b, status, err)
	return resp, err
}

func (s *scopeviewServing) end() {
	if s.b == 0 {
		return
	}
	pattern, status := s.req.Pattern, 0
	if pattern == s.known {
		pattern = ""
	}
	if w, ok := s.w.(*response); ok && !w.conn.hijacked() { // what HTTP/2 has is another type in each version
		if status = w.status; status == 0 && s.returned {
			status = StatusOK
		}
	}
	scopeviewResponded(s.a, s.b, pattern, status, !s.returned)
}`
