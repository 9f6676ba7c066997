package live

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// hosts are the names, besides those of the loopback, that a Host header may have, in lower
// case.
type hosts map[string]bool

// newHosts parses names and addresses without a port.
func newHosts(names []string) (hosts, error) {
	h := make(hosts, len(names))
	for _, name := range names {
		n := strings.ToLower(strings.Trim(name, "[]"))
		if _, err := netip.ParseAddr(n); err != nil && (n == "" || strings.ContainsAny(n, ":/@?#*[] ")) {
			return nil, fmt.Errorf("%q is not a host: give a name such as traces.example.com, or an address, without scheme and port", name)
		}
		h[n] = true
	}
	return h, nil
}

// allow reports whether hostport, as in a Host header, is the loopback, with any port, or
// was allowed. Names that only begin or end like one of these are not.
func (h hosts) allow(hostport string) bool {
	name, ok := hostName(hostport)
	if !ok {
		return false
	}
	if addr, err := netip.ParseAddr(name); err == nil && addr.Zone() == "" && addr.IsLoopback() {
		return true
	}
	name = strings.ToLower(name)
	return name == "localhost" || h[name]
}

// allowOrigin is like allow for an Origin header.
func (h hosts) allowOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && u.Path == "" && h.allow(u.Host)
}

// hostName removes the port, and the brackets of an IPv6 address. Browsers send no IPv6
// address without brackets.
func hostName(hostport string) (name string, ok bool) {
	if rest, v6 := strings.CutPrefix(hostport, "["); v6 {
		name, port, found := strings.Cut(rest, "]")
		return name, found && strings.Contains(name, ":") && (port == "" || port[0] == ':' && digits(port[1:]))
	}
	name, port, found := strings.Cut(hostport, ":")
	return name, name != "" && (!found || digits(port))
}

// digits reports whether port consists of digits; it may be empty.
func digits(port string) bool { return strings.Trim(port, "0123456789") == "" }
