package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// ErrNoFirefox is returned by StartFirefox on a machine without Firefox.
var ErrNoFirefox = errors.New("no firefox-esr; make deps installs it")

// firefox is a running Firefox, driven by WebDriver BiDi. Chromium is driven by chromedp, which has
// nothing for Firefox; the drivers that have need another program, or Firefox builds of their own.
type firefox struct {
	*bidi
	process *exec.Cmd
	profile string
	version string
	chrome  string // the browser's own window, for privileged scripts

	mu   sync.Mutex
	tabs map[string]*Page // by the ids of their browsing contexts

	front string // the tab in front
}

// preferences disable update checks, telemetry and requests for icons.
const preferences = `
user_pref("app.normandy.enabled", false);
user_pref("app.update.disabledForTesting", true);
user_pref("browser.chrome.site_icons", false);
user_pref("browser.chrome.site_icons", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
`

// StartFirefox starts Firefox. Close ends it.
func StartFirefox() (*Browser, error) {
	bin, err := exec.LookPath("firefox-esr")
	if err != nil {
		return nil, ErrNoFirefox
	}
	b := &firefox{tabs: make(map[string]*Page)}
	if err := b.start(bin); err != nil {
		b.Close()
		return nil, fmt.Errorf("%s does not start: %w", bin, err)
	}
	return &Browser{b}, nil
}

func (b *firefox) start(bin string) (err error) {
	if b.profile, err = os.MkdirTemp("", "scopeview-firefox-"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.profile, "user.js"), []byte(preferences), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(bin, "--headless", "--no-remote", "--profile", b.profile, "--remote-debugging-port=0", "--remote-allow-system-access")
	cmd.Env = append(os.Environ(), "HOME="+b.profile, "MOZ_REMOTE_SETTINGS_DEVTOOLS=0")
	says, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	b.process = cmd
	late := time.AfterFunc(3*patience, func() { _ = cmd.Process.Kill() }) // a new profile beside a full load
	defer late.Stop()
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "WebDriver BiDi listening on "); ok {
			go io.Copy(io.Discard, says) //nolint:errcheck // else it would wait for somebody to read
			return b.connect(url + "/session")
		}
	}
	return errors.New("it does not say where it listens")
}

func (b *firefox) connect(url string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if b.bidi, err = dial(ctx, url, b.watch); err != nil {
		return err
	}
	var session struct {
		Capabilities struct{ BrowserName, BrowserVersion string }
	}
	// Dialogs are reported, and dismissed.
	wish := object{"unhandledPromptBehavior": object{"default": "dismiss"}}
	if err := b.call("session.new", object{"capabilities": object{"alwaysMatch": wish}}, &session); err != nil {
		return err
	}
	b.version = session.Capabilities.BrowserName + "/" + session.Capabilities.BrowserVersion
	events := []string{"log.entryAdded", "network.beforeRequestSent", "browsingContext.userPromptOpened", "browsingContext.contextCreated"}
	if err := b.call("session.subscribe", object{"events": events}, nil); err != nil {
		return err
	}
	var tree struct{ Contexts []struct{ Context string } }
	if err := b.call("browsingContext.getTree", object{"moz:scope": "chrome"}, &tree); err != nil {
		return err
	}
	if len(tree.Contexts) == 0 {
		return errors.New("it has no window")
	}
	b.chrome = tree.Contexts[0].Context
	return nil
}

// Version returns the browser's version text.
func (b *firefox) Version() (string, error) { return b.version, nil }

// Close ends Firefox.
func (b *firefox) Close() {
	if b.bidi != nil {
		_ = b.socket.CloseNow()
	}
	if b.process != nil {
		_ = b.process.Process.Signal(os.Interrupt) // its own processes end with it
		late := time.AfterFunc(5*time.Second, func() { _ = b.process.Process.Kill() })
		_ = b.process.Wait()
		late.Stop()
	}
	_ = os.RemoveAll(b.profile)
}

// message has the fields of the watched events.
type message struct {
	Context                   string                   // of a page, or of a frame
	Parent                    string                   // of a new frame
	Source                    struct{ Context string } // source of a log entry
	Request                   struct{ URL string }     // request to be sent
	Message                   string                   // of a dialog
	Type, Level, Method, Text string                   // of a log entry
}

func (b *firefox) watch(method string, params json.RawMessage) {
	var m message
	if json.Unmarshal(params, &m) != nil {
		return // not watched
	}
	context := m.Context + m.Source.Context
	b.mu.Lock()
	if parent := b.tabs[m.Parent]; parent != nil {
		b.tabs[context] = parent
	}
	p := b.tabs[context]
	b.mu.Unlock()
	if p != nil {
		p.hear(method, m)
	}
}

// hear records the faults that Firefox reports.
func (p *Page) hear(method string, m message) {
	switch method {
	case "log.entryAdded":
		if m.Type != "console" && m.Level == "error" {
			p.fault("the browser says: %s", m.Text) // exceptions, and violations of the page's policy
		} else if m.Type == "console" && (m.Level == "error" || m.Level == "warn") {
			p.fault("console.%s: %s", m.Method, m.Text)
		}
	case "network.beforeRequestSent":
		if u, _, _ := strings.Cut(m.Request.URL, "#"); !p.mayLoad(u) {
			p.fault("a request to %s", u)
		}
	case "browsingContext.userPromptOpened":
		p.fault("a dialog: %s", m.Message)
	}
}
