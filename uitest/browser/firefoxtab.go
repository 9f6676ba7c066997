package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// firefoxTab is a tab of Firefox.
type firefoxTab struct {
	*firefox
	user    string // the user context with its storage
	id      string // of its browsing context
	fingers int    // that touch the screen
}

func (b *firefox) newTab(p *Page) (tab, error) {
	t := &firefoxTab{firefox: b}
	var user struct{ UserContext string }
	if err := b.call("browser.createUserContext", object{}, &user); err != nil {
		return nil, err
	}
	t.user = user.UserContext
	var made struct{ Context string }
	if err := b.call("browsingContext.create", object{"type": "tab", "userContext": t.user}, &made); err != nil {
		t.Close()
		return nil, err
	}
	t.id = made.Context
	t.front = t.id
	b.mu.Lock()
	b.tabs[t.id] = p
	b.mu.Unlock()
	return t, nil
}

// Close closes the tab.
func (t *firefoxTab) Close() {
	t.mu.Lock()
	p := t.tabs[t.id]
	for id, of := range t.tabs {
		if of == p {
			delete(t.tabs, id)
		}
	}
	t.mu.Unlock()
	t.front = ""
	_ = t.call("browser.removeUserContext", object{"userContext": t.user}, nil)
}

// toFront brings the tab to the front: tabs behind it rarely draw and have no focus.
func (t *firefoxTab) toFront() error {
	if t.front == t.id {
		return nil
	}
	t.front = t.id
	return t.call("browsingContext.activate", object{"context": t.id}, nil)
}

func (t *firefoxTab) navigate(address string) error {
	return t.call("browsingContext.navigate", object{"context": t.id, "url": address, "wait": "complete"}, nil)
}

// see changes the window; only a privileged script can set dark mode for one tab.
func (t *firefoxTab) see(v View) error {
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	_, err := t.run(t.chrome, fmt.Sprintf(`{
		const { NavigableManager } = ChromeUtils.importESModule("chrome://remote/content/shared/NavigableManager.sys.mjs");
		NavigableManager.getBrowsingContextById(%q).prefersColorSchemeOverride = %q;
	}`, t.id, scheme))
	return errors.Join(err, t.call("browsingContext.setViewport", object{
		"context": t.id, "viewport": object{"width": v.Width, "height": v.Height}, "devicePixelRatio": v.Scale,
	}, nil))
}

// evaluated is the result of a script.
type evaluated struct {
	Result           json.RawMessage
	ExceptionDetails *struct{ Text string }
}

func (e evaluated) value() (kind string, value []byte, err error) {
	if e.ExceptionDetails != nil {
		return "", nil, errors.New(e.ExceptionDetails.Text)
	}
	var v struct {
		Type  string
		Value json.RawMessage
	}
	err = json.Unmarshal(e.Result, &v)
	return v.Type, v.Value, err
}

// run evaluates JavaScript in a target.
func (t *firefoxTab) run(context, js string) (e evaluated, err error) {
	err = t.call("script.evaluate", object{
		"expression": js, "target": object{"context": context}, "awaitPromise": true, "userActivation": true,
		"resultOwnership": "root", "serializationOptions": object{"maxObjectDepth": 0, "maxDomDepth": 0},
	}, &e)
	if err == nil {
		_, _, err = e.value()
	}
	return e, err
}

func (t *firefoxTab) eval(js string) ([]byte, error) {
	if err := t.toFront(); err != nil {
		return nil, err
	}
	e, err := t.run(t.id, js)
	if err != nil {
		return nil, err
	}
	switch kind, value, err := e.value(); kind {
	case "boolean", "number", "string":
		return value, err
	case "null":
		return []byte("null"), nil
	case "undefined":
		return nil, nil
	}
	// An object comes back as JSON, as from Chromium.
	var text evaluated
	if err := t.call("script.callFunction", object{
		"functionDeclaration": "(v) => JSON.stringify(v)", "arguments": []any{e.Result}, "target": object{"context": t.id}, "awaitPromise": false,
	}, &text); err != nil {
		return nil, err
	}
	_, quoted, err := text.value()
	if err != nil || quoted == nil {
		return nil, err
	}
	var value string
	err = json.Unmarshal(quoted, &value)
	return []byte(value), err
}

// Picture returns a screenshot as PNG.
func (t *firefoxTab) Picture() ([]byte, error) {
	var shot struct{ Data []byte }
	err := t.call("browsingContext.captureScreenshot", object{"context": t.id}, &shot)
	return shot.Data, err
}

// SaveDownloads sets the directory for the page's downloads.
func (t *firefoxTab) SaveDownloads(into string) error {
	return t.call("browser.setDownloadBehavior", object{
		"downloadBehavior": object{"type": "allowed", "destinationFolder": into}, "userContexts": []string{t.user},
	}, nil)
}

// Before runs JavaScript in every page loaded from now on, before the page's own.
func (t *firefoxTab) Before(js string) error {
	return t.call("script.addPreloadScript", object{"functionDeclaration": "() => {" + js + "\n}", "contexts": []string{t.id}}, nil)
}

// values are WebDriver's values of keys that type no text.
var values = map[string]string{
	"Escape": "\ue00c", "Enter": "\ue006", "Tab": "\ue004", "Backspace": "\ue003", "Delete": "\ue017", "Home": "\ue011", "End": "\ue010",
	"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015",
}

// holding are the modifiers' values.
func holding(m Modifier) (held []string) {
	for _, k := range []struct {
		m     Modifier
		value string
	}{{Alt, "\ue00a"}, {Ctrl, "\ue009"}, {Shift, "\ue008"}} {
		if m&k.m != 0 {
			held = append(held, k.value)
		}
	}
	return held
}

func keyEvents(what string, values ...string) (events []object) {
	for _, v := range values {
		events = append(events, object{"type": what, "value": v})
	}
	return events
}

func (t *firefoxTab) strike(s stroke, times int) error {
	if menu := s.code == "ContextMenu"; menu || elsewhere(s) {
		// WebDriver's keyboard is English, and has no key for the context menu.
		_, err := t.run(t.id, fmt.Sprintf(`(() => {
			const at = document.activeElement, how = { bubbles: true, cancelable: true, composed: true };
			for (const type of ["keydown", "keyup"]) at.dispatchEvent(new KeyboardEvent(type, { code: %q, key: %q, ...how }));
			if (%t) at.dispatchEvent(new MouseEvent("contextmenu", how));
		})()`, s.code, s.key, menu))
		return err
	}
	value := s.key
	if v := values[s.code]; v != "" {
		value = v
	}
	held := holding(s.modifiers)
	events := keyEvents("keyDown", held...)
	for range times {
		events = append(events, keyEvents("keyDown", value)...)
	}
	events = append(events, keyEvents("keyUp", value)...)
	return t.act(object{"type": "key", "id": "keys", "actions": append(events, keyEvents("keyUp", held...)...)})
}

// elsewhere reports whether an English keyboard types another key at that position.
func elsewhere(s stroke) bool {
	english, err := strokeOf(s.code, s.modifiers)
	return err != nil || english.key != s.key
}

// Type types text at the focus.
func (t *firefoxTab) Type(text string) error {
	var events []object
	for _, r := range text {
		events = append(events, keyEvents("keyDown", string(r))...)
		events = append(events, keyEvents("keyUp", string(r))...)
	}
	return t.act(object{"type": "key", "id": "keys", "actions": events})
}

func (t *firefoxTab) mouse(steps []step) error {
	var events []object
	for _, s := range steps {
		switch s.what {
		case move:
			events = append(events, object{"type": "pointerMove", "x": s.x, "y": s.y})
		case press:
			events = append(events, object{"type": "pointerDown", "button": 0})
		case release:
			events = append(events, object{"type": "pointerUp", "button": 0})
		case pressRight:
			events = append(events, object{"type": "pointerDown", "button": 2})
		case releaseRight:
			events = append(events, object{"type": "pointerUp", "button": 2})
		}
	}
	return t.act(object{"type": "pointer", "id": "mouse", "parameters": object{"pointerType": "mouse"}, "actions": events})
}

// Fingers touches the screen. Each finger is a pointer of its own, and they move together.
func (t *firefoxTab) Fingers(at ...Spot) error {
	var sources []object
	for i := range max(len(at), t.fingers) {
		events := []object{{"type": "pointerUp", "button": 0}}
		if i < len(at) {
			events[0] = object{"type": "pointerMove", "x": at[i].X, "y": at[i].Y}
			if i >= t.fingers {
				events = append(events, object{"type": "pointerDown", "button": 0})
			}
		}
		sources = append(sources, object{"type": "pointer", "id": fmt.Sprintf("finger %d", i), "parameters": object{"pointerType": "touch"}, "actions": events})
	}
	t.fingers = len(at)
	return t.act(sources...)
}

// Wheel turns the wheel over a place.
func (t *firefoxTab) Wheel(x, y, dx, dy float64, modifiers ...Modifier) error {
	held := holding(sum(modifiers))
	var turns []object
	for range held {
		turns = append(turns, object{"type": "pause"})
	}
	whole := func(v float64) int { return int(math.Round(v)) }
	turns = append(turns, object{"type": "scroll", "x": whole(x), "y": whole(y), "deltaX": whole(dx), "deltaY": whole(dy)})
	keys := append(keyEvents("keyDown", held...), object{"type": "pause"})
	return t.act(
		object{"type": "key", "id": "keys", "actions": append(keys, keyEvents("keyUp", held...)...)},
		object{"type": "wheel", "id": "wheel", "actions": turns})
}

func (t *firefoxTab) act(sources ...object) error {
	if err := t.toFront(); err != nil {
		return err
	}
	return t.call("input.performActions", object{"context": t.id, "actions": sources}, nil)
}
