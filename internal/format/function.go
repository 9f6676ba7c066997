package format

import "strings"

// ShortFunction returns a function's name as people write it: with only the last element
// of its package's path, or the one before it if that is a module's major version. It
// undoes the linker's escapes:
//
//	github.com/dgraph-io/badger/v4.(*DB).Update     badger.(*DB).Update
//	github.com/nats-io/nats%2ego.(*Conn).Publish    nats.go.(*Conn).Publish
func ShortFunction(name string) string {
	path, _, _ := strings.Cut(name, "[") // types follow, with paths of their own
	slash := strings.LastIndexByte(path, '/')
	short := name[slash+1:]
	dot := strings.IndexByte(short, '.')
	if dot < 0 {
		return short
	}
	pkg := short[:dot]
	if slash > 0 && majorVersion(pkg) {
		pkg = path[:slash]
		pkg = pkg[strings.LastIndexByte(pkg, '/')+1:]
	}
	return unescape(pkg) + short[dot:]
}

// majorVersion reports whether a path element is one of v2, v3 …
func majorVersion(s string) bool {
	if len(s) < 2 || s[0] != 'v' || s[1] == '0' || s == "v1" {
		return false
	}
	return strings.Trim(s[1:], "0123456789") == ""
}

// unescape replaces each %xx by its byte.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if h, l := hexDigit(s[i+1]), hexDigit(s[i+2]); h < 16 && l < 16 {
				b = append(b, h<<4|l)
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func hexDigit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 16
}
