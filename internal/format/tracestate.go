package format

import "strings"

// Limits of a tracestate.
const (
	maxMembers = 32
	maxKey     = 256
	maxTenant  = 241 // of a key "tenant@system"
	maxSystem  = 14
	maxValue   = 256
)

// ParseTracestate joins the tracestate headers of a request, in their order. It returns
// their members unchanged, without the white space and empty members between them, or "" if
// a member does not conform to W3C Trace Context, a key occurs twice, or there are more than
// 32 members.
func ParseTracestate(headers []string) string {
	var members [maxMembers]string
	n, bytes := 0, 0
	for _, header := range headers {
		for member := range strings.SplitSeq(header, ",") {
			if member = strings.Trim(member, " \t"); member == "" {
				continue
			}
			if n == maxMembers || !validMember(member, members[:n]) {
				return ""
			}
			members[n] = member
			n++
			bytes += len(member) + 1
		}
	}
	if len(headers) == 1 && bytes == len(headers[0])+1 {
		return headers[0] // the usual case: there is nothing to remove
	}
	return strings.Join(members[:n], ",")
}

// validMember reports whether a member is valid and has a key that others lack.
func validMember(member string, others []string) bool {
	key, value, ok := strings.Cut(member, "=")
	if !ok || !validKey(key) || value == "" || len(value) > maxValue {
		return false
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == '=' {
			return false
		}
	}
	for _, other := range others {
		if strings.HasPrefix(other, member[:len(key)+1]) {
			return false
		}
	}
	return true
}

// validKey reports whether a key is valid: "name", or "tenant@system".
func validKey(key string) bool {
	name, system, tenant := strings.Cut(key, "@")
	if !tenant {
		return len(name) <= maxKey && validName(name)
	}
	return len(name) <= maxTenant && validName(name) && len(system) <= maxSystem && validName(system) && system[0] >= 'a'
}

// validName reports whether s begins with a lower-case letter or a digit, and consists of
// the characters allowed in a key.
func validName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || i > 0 && (c == '_' || c == '-' || c == '*' || c == '/')) {
			return false
		}
	}
	return s != ""
}
