//go:build !scope_off

package scopehttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// Optional interfaces of an http.ResponseWriter, as bits.
const (
	canFlush = 1 << iota
	canHijack
	canReadFrom
	canCloseNotify
	canPush
	canWriteString
)

// A response with the methods of some of these interfaces: F is Flush, H Hijack, R ReadFrom, C
// CloseNotify, P Push, and S WriteString. Each type holds one pointer, so that an interface holds
// it without an allocation, and adds one method to another type. A type takes 4 kB of a program,
// so WriteString, which only saves a copy, is kept only where net/http, its ResponseRecorder and
// gin have it.
type (
	withF     struct{ *response }
	withH     struct{ *response }
	withFH    struct{ withF }
	withR     struct{ *response }
	withFR    struct{ withF }
	withHR    struct{ withH }
	withFHR   struct{ withFH }
	withC     struct{ *response }
	withFC    struct{ withF }
	withHC    struct{ withH }
	withFHC   struct{ withFH }
	withRC    struct{ withR }
	withFRC   struct{ withFR }
	withHRC   struct{ withHR }
	withFHRC  struct{ withFHR }
	withP     struct{ *response }
	withFP    struct{ withF }
	withHP    struct{ withH }
	withFHP   struct{ withFH }
	withRP    struct{ withR }
	withFRP   struct{ withFR }
	withHRP   struct{ withHR }
	withFHRP  struct{ withFHR }
	withCP    struct{ withC }
	withFCP   struct{ withFC }
	withHCP   struct{ withHC }
	withFHCP  struct{ withFHC }
	withRCP   struct{ withRC }
	withFRCP  struct{ withFRC }
	withHRCP  struct{ withHRC }
	withFHRCP struct{ withFHRC }
	withFS    struct{ withF }
	withFCPS  struct{ withFCP }
	withFHRCS struct{ withFHRC }
	withFHCPS struct{ withFHCP }
)

func (w withF) Flush()                                        { _ = flush(w.response) }
func (w withF) FlushError() error                             { return flush(w.response) }
func (w withH) Hijack() (net.Conn, *bufio.ReadWriter, error)  { return hijack(w.response) }
func (w withFH) Hijack() (net.Conn, *bufio.ReadWriter, error) { return hijack(w.response) }
func (w withR) ReadFrom(r io.Reader) (int64, error)           { return readFrom(w.response, r) }
func (w withFR) ReadFrom(r io.Reader) (int64, error)          { return readFrom(w.response, r) }
func (w withHR) ReadFrom(r io.Reader) (int64, error)          { return readFrom(w.response, r) }
func (w withFHR) ReadFrom(r io.Reader) (int64, error)         { return readFrom(w.response, r) }
func (w withC) CloseNotify() <-chan bool                      { return closeNotify(w.response) }
func (w withFC) CloseNotify() <-chan bool                     { return closeNotify(w.response) }
func (w withHC) CloseNotify() <-chan bool                     { return closeNotify(w.response) }
func (w withFHC) CloseNotify() <-chan bool                    { return closeNotify(w.response) }
func (w withRC) CloseNotify() <-chan bool                     { return closeNotify(w.response) }
func (w withFRC) CloseNotify() <-chan bool                    { return closeNotify(w.response) }
func (w withHRC) CloseNotify() <-chan bool                    { return closeNotify(w.response) }
func (w withFHRC) CloseNotify() <-chan bool                   { return closeNotify(w.response) }
func (w withP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withFP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withHP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withFHP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withRP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withFRP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withHRP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withFHRP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withCP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withFCP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withHCP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withFHCP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withRCP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withFRCP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withHRCP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withFHRCP) Push(target string, opts *http.PushOptions) error {
	return push(w.response, target, opts)
}
func (w withFS) WriteString(s string) (int, error)    { return writeString(w.response, s) }
func (w withFCPS) WriteString(s string) (int, error)  { return writeString(w.response, s) }
func (w withFHRCS) WriteString(s string) (int, error) { return writeString(w.response, s) }
func (w withFHCPS) WriteString(s string) (int, error) { return writeString(w.response, s) }

// with returns w with the methods of the optional interfaces in can.
func (w *response) with(can int) http.ResponseWriter {
	switch can {
	case 0:
		return w
	case canFlush:
		return withF{w}
	case canHijack:
		return withH{w}
	case canFlush | canHijack:
		return withFH{withF{w}}
	case canReadFrom:
		return withR{w}
	case canFlush | canReadFrom:
		return withFR{withF{w}}
	case canHijack | canReadFrom:
		return withHR{withH{w}}
	case canFlush | canHijack | canReadFrom:
		return withFHR{withFH{withF{w}}}
	case canCloseNotify:
		return withC{w}
	case canFlush | canCloseNotify:
		return withFC{withF{w}}
	case canHijack | canCloseNotify:
		return withHC{withH{w}}
	case canFlush | canHijack | canCloseNotify:
		return withFHC{withFH{withF{w}}}
	case canReadFrom | canCloseNotify:
		return withRC{withR{w}}
	case canFlush | canReadFrom | canCloseNotify:
		return withFRC{withFR{withF{w}}}
	case canHijack | canReadFrom | canCloseNotify:
		return withHRC{withHR{withH{w}}}
	case canFlush | canHijack | canReadFrom | canCloseNotify:
		return withFHRC{withFHR{withFH{withF{w}}}}
	case canPush:
		return withP{w}
	case canFlush | canPush:
		return withFP{withF{w}}
	case canHijack | canPush:
		return withHP{withH{w}}
	case canFlush | canHijack | canPush:
		return withFHP{withFH{withF{w}}}
	case canReadFrom | canPush:
		return withRP{withR{w}}
	case canFlush | canReadFrom | canPush:
		return withFRP{withFR{withF{w}}}
	case canHijack | canReadFrom | canPush:
		return withHRP{withHR{withH{w}}}
	case canFlush | canHijack | canReadFrom | canPush:
		return withFHRP{withFHR{withFH{withF{w}}}}
	case canCloseNotify | canPush:
		return withCP{withC{w}}
	case canFlush | canCloseNotify | canPush:
		return withFCP{withFC{withF{w}}}
	case canHijack | canCloseNotify | canPush:
		return withHCP{withHC{withH{w}}}
	case canFlush | canHijack | canCloseNotify | canPush:
		return withFHCP{withFHC{withFH{withF{w}}}}
	case canReadFrom | canCloseNotify | canPush:
		return withRCP{withRC{withR{w}}}
	case canFlush | canReadFrom | canCloseNotify | canPush:
		return withFRCP{withFRC{withFR{withF{w}}}}
	case canHijack | canReadFrom | canCloseNotify | canPush:
		return withHRCP{withHRC{withHR{withH{w}}}}
	case canFlush | canHijack | canReadFrom | canCloseNotify | canPush:
		return withFHRCP{withFHRC{withFHR{withFH{withF{w}}}}}
	case canFlush | canWriteString:
		return withFS{withF{w}}
	case canFlush | canCloseNotify | canPush | canWriteString:
		return withFCPS{withFCP{withFC{withF{w}}}}
	case canFlush | canHijack | canReadFrom | canCloseNotify | canWriteString:
		return withFHRCS{withFHRC{withFHR{withFH{withF{w}}}}}
	case canFlush | canHijack | canCloseNotify | canPush | canWriteString:
		return withFHCPS{withFHCP{withFHC{withFH{withF{w}}}}}
	}
	return w.with(can &^ canWriteString)
}
