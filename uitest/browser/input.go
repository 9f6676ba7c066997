package browser

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
)

// Modifier is a key that changes what another key or the wheel does.
type Modifier int64

// The modifiers, as the browser's protocol numbers them.
const (
	Alt   Modifier = 1
	Ctrl  Modifier = 2
	Shift Modifier = 8
)

func sum(modifiers []Modifier) (all Modifier) {
	for _, m := range modifiers {
		all |= m
	}
	return all
}

// keys are those whose value does not follow from the code, and their old
// Windows codes.
var keys = map[string]struct {
	key, shifted, text string
	windows            int64
}{
	"Escape": {"Escape", "", "", 27}, "Enter": {"Enter", "", "\r", 13}, "Tab": {"Tab", "", "", 9}, "Space": {" ", "", " ", 32},
	"Backspace": {"Backspace", "", "", 8}, "Delete": {"Delete", "", "", 46}, "Home": {"Home", "", "", 36}, "End": {"End", "", "", 35},
	"ArrowLeft": {"ArrowLeft", "", "", 37}, "ArrowUp": {"ArrowUp", "", "", 38}, "ArrowRight": {"ArrowRight", "", "", 39},
	"ArrowDown": {"ArrowDown", "", "", 40}, "Slash": {"/", "?", "/", 191}, "Period": {".", ">", ".", 190}, "Comma": {",", "<", ",", 188},
	"BracketLeft": {"[", "{", "[", 219}, "BracketRight": {"]", "}", "]", 221}, "Minus": {"-", "_", "-", 189}, "Equal": {"=", "+", "=", 187},
}

// Press presses and releases a key by its code, which is where it is on the
// keyboard: KeyW, Digit0, Slash, ArrowLeft.
func (p *Page) Press(code string, modifiers ...Modifier) error {
	return p.Hold(code, 1, modifiers...)
}

// Hold presses a key so often, as a keyboard does while it is held down, and
// releases it.
func (p *Page) Hold(code string, times int, modifiers ...Modifier) error {
	down, err := stroke(code, sum(modifiers))
	if err != nil {
		return err
	}
	return p.strike(down, times)
}

// PressAs presses a key on a keyboard with another layout, where it types key.
func (p *Page) PressAs(code, key string) error {
	down, err := stroke(code, 0)
	if err != nil {
		return err
	}
	down.Key, down.Text = key, key
	return p.strike(down, 1)
}

func (p *Page) strike(down input.DispatchKeyEventParams, times int) error {
	for i := range times {
		repeated := i > 0
		down.AutoRepeat = &repeated
		if err := call(p, input.DispatchKeyEvent, down); err != nil {
			return err
		}
	}
	up := down
	up.Type, up.Text, up.AutoRepeat = input.DispatchKeyEventTypeKeyUp, "", nil
	return call(p, input.DispatchKeyEvent, up)
}

func stroke(code string, m Modifier) (e input.DispatchKeyEventParams, err error) {
	k := keys[code]
	if letter, ok := strings.CutPrefix(code, "Key"); ok {
		k.key, k.shifted, k.text, k.windows = strings.ToLower(letter), letter, strings.ToLower(letter), int64(letter[0])
	} else if digit, ok := strings.CutPrefix(code, "Digit"); ok {
		k.key, k.text, k.windows = digit, digit, int64(digit[0])
	}
	if k.key == "" {
		return e, fmt.Errorf("no key has the code %s", code)
	}
	if m&Shift != 0 && k.shifted != "" {
		k.key, k.text = k.shifted, k.shifted
	}
	if m&(Ctrl|Alt) != 0 {
		k.text = ""
	}
	return input.DispatchKeyEventParams{
		Type: input.DispatchKeyEventTypeKeyDown, Code: code, Key: k.key, Text: k.text, Modifiers: int64(m),
		WindowsVirtualKeyCode: k.windows, NativeVirtualKeyCode: k.windows,
	}, nil
}

// Type types text where the focus is.
func (p *Page) Type(text string) error {
	return call(p, input.InsertText, input.InsertTextParams{Text: text})
}

// Point moves the mouse.
func (p *Page) Point(x, y float64) error {
	return p.mouse(input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: x, Y: y})
}

// Click moves the mouse and clicks.
func (p *Page) Click(x, y float64) error { return p.Drag(x, y, x, y) }

// DoubleClick moves the mouse and clicks twice.
func (p *Page) DoubleClick(x, y float64) error {
	return errors.Join(p.Point(x, y), p.button(input.DispatchMouseEventTypeMousePressed, x, y, 1), p.button(input.DispatchMouseEventTypeMouseReleased, x, y, 1),
		p.button(input.DispatchMouseEventTypeMousePressed, x, y, 2), p.button(input.DispatchMouseEventTypeMouseReleased, x, y, 2))
}

// Drag moves the mouse with its button down, in steps.
func (p *Page) Drag(x0, y0, x1, y1 float64) error {
	const steps = 10
	err := errors.Join(p.Point(x0, y0), p.button(input.DispatchMouseEventTypeMousePressed, x0, y0, 1))
	for i := 1; i <= steps && (x0 != x1 || y0 != y1); i++ {
		f := float64(i) / steps
		err = errors.Join(err, p.mouse(input.DispatchMouseEventParams{
			Type: input.DispatchMouseEventTypeMouseMoved, Button: input.MouseButtonLeft, Buttons: 1, X: x0 + f*(x1-x0), Y: y0 + f*(y1-y0),
		}))
	}
	return errors.Join(err, p.button(input.DispatchMouseEventTypeMouseReleased, x1, y1, 1))
}

// turn is input.DispatchMouseEventParams of a wheel, with zeros, which those
// leave out and the browser insists on.
type turn struct {
	Type      string   `json:"type"`
	X         float64  `json:"x"`
	Y         float64  `json:"y"`
	DeltaX    float64  `json:"deltaX"`
	DeltaY    float64  `json:"deltaY"`
	Modifiers Modifier `json:"modifiers"`
}

// Wheel turns the wheel over a place.
func (p *Page) Wheel(x, y, dx, dy float64, modifiers ...Modifier) error {
	wheel := cdp.Command[turn, cdp.Empty]{Method: input.CommandDispatchMouseEvent}
	return call(p, wheel, turn{"mouseWheel", x, y, dx, dy, sum(modifiers)})
}

func (p *Page) button(what input.DispatchMouseEventType, x, y float64, count int64) error {
	e := input.DispatchMouseEventParams{Type: what, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: count}
	if what == input.DispatchMouseEventTypeMousePressed {
		e.Buttons = 1
	}
	return p.mouse(e)
}

func (p *Page) mouse(e input.DispatchMouseEventParams) error {
	return call(p, input.DispatchMouseEvent, e)
}
