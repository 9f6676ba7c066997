package browser

import (
	"errors"
	"fmt"
	"strings"
)

// Modifier is a key that modifies another key or the wheel.
type Modifier int64

// The modifiers, with the numbers of the browser's protocol.
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

// keys have the values that do not follow from the code, and the old Windows codes.
var keys = map[string]struct {
	key, shifted, text string
	windows            int64
}{
	"Escape": {"Escape", "", "", 27}, "Enter": {"Enter", "", "\r", 13}, "Tab": {"Tab", "", "", 9}, "Space": {" ", "", " ", 32},
	"Backspace": {"Backspace", "", "", 8}, "Delete": {"Delete", "", "", 46}, "Home": {"Home", "", "", 36}, "End": {"End", "", "", 35},
	"ArrowLeft": {"ArrowLeft", "", "", 37}, "ArrowUp": {"ArrowUp", "", "", 38}, "ArrowRight": {"ArrowRight", "", "", 39},
	"ArrowDown": {"ArrowDown", "", "", 40}, "Slash": {"/", "?", "/", 191}, "Period": {".", ">", ".", 190}, "Comma": {",", "<", ",", 188},
	"BracketLeft": {"[", "{", "[", 219}, "BracketRight": {"]", "}", "]", 221}, "ContextMenu": {"ContextMenu", "", "", 93}, "Minus": {"-", "_", "-", 189}, "Equal": {"=", "+", "=", 187},
}

// stroke is a key press.
type stroke struct {
	code, key, text string
	windows         int64
	modifiers       Modifier
}

// Press presses and releases a key by its code, which is its position on the keyboard: KeyW,
// Digit0, Slash, ArrowLeft.
func (p *Page) Press(code string, modifiers ...Modifier) error {
	return p.Hold(code, 1, modifiers...)
}

// Hold presses a key n times, like a keyboard does while it is held down, and releases it.
func (p *Page) Hold(code string, times int, modifiers ...Modifier) error {
	s, err := strokeOf(code, sum(modifiers))
	if err != nil {
		return err
	}
	return p.strike(s, times)
}

// PressAs presses a key on a keyboard with another layout, where it types key.
func (p *Page) PressAs(code, key string) error {
	s, err := strokeOf(code, 0)
	if err != nil {
		return err
	}
	s.key, s.text = key, key
	return p.strike(s, 1)
}

func strokeOf(code string, m Modifier) (stroke, error) {
	k := keys[code]
	if letter, ok := strings.CutPrefix(code, "Key"); ok {
		k.key, k.shifted, k.text, k.windows = strings.ToLower(letter), letter, strings.ToLower(letter), int64(letter[0])
	} else if digit, ok := strings.CutPrefix(code, "Digit"); ok {
		k.key, k.text, k.windows = digit, digit, int64(digit[0])
	}
	if k.key == "" {
		return stroke{}, fmt.Errorf("no key has the code %s", code)
	}
	if m&Shift != 0 && k.shifted != "" {
		k.key, k.text = k.shifted, k.shifted
	}
	if m&(Ctrl|Alt) != 0 {
		k.text = ""
	}
	return stroke{code, k.key, k.text, k.windows, m}, nil
}

// step is one action of the mouse.
type step struct {
	what action
	x, y float64
}

type action int

const (
	move action = iota
	press
	release
	pressRight // the other button
	releaseRight
)

// Spot is a place in the window.
type Spot struct{ X, Y float64 }

// Point moves the mouse.
func (p *Page) Point(x, y float64) error { return p.mouse([]step{{move, x, y}}) }

// Click moves the mouse and clicks.
func (p *Page) Click(x, y float64) error { return p.Drag(x, y, x, y) }

// RightClick moves the mouse and clicks with its other button.
func (p *Page) RightClick(x, y float64) error {
	return p.mouse([]step{{move, x, y}, {pressRight, x, y}, {releaseRight, x, y}})
}

// DoubleClick moves the mouse and clicks twice.
func (p *Page) DoubleClick(x, y float64) error {
	return p.mouse([]step{{move, x, y}, {press, x, y}, {release, x, y}, {press, x, y}, {release, x, y}})
}

// Drag moves the mouse with its button down, in steps.
func (p *Page) Drag(x0, y0, x1, y1 float64) error {
	const parts = 10
	steps := []step{{move, x0, y0}, {press, x0, y0}}
	for i := 1; i <= parts && (x0 != x1 || y0 != y1); i++ {
		f := float64(i) / parts
		steps = append(steps, step{move, x0 + f*(x1-x0), y0 + f*(y1-y0)})
	}
	return p.mouse(append(steps, step{release, x1, y1}))
}

// Tap touches a place with a finger, n times.
func (p *Page) Tap(x, y float64, times int) error {
	for range times {
		if err := errors.Join(p.Fingers(Spot{x, y}), p.Fingers()); err != nil {
			return err
		}
	}
	return nil
}

// Slide moves the fingers that touch the screen from some places to others, in steps.
func (p *Page) Slide(from, to []Spot) error {
	const parts = 10
	for i := 0; i <= parts; i++ {
		at, f := make([]Spot, len(from)), float64(i)/parts
		for k := range at {
			at[k] = Spot{from[k].X + f*(to[k].X-from[k].X), from[k].Y + f*(to[k].Y-from[k].Y)}
		}
		if err := p.Fingers(at...); err != nil {
			return err
		}
	}
	return nil
}
