package uitest

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
)

// TestPicture: what a user sees has the waits' orange in it, and other colours.
func TestPicture(t *testing.T) {
	browsers(t, func(t *testing.T) {
		tb := showTrace(t, storeTrace(t), browser.View{})
		shot, err := tb.Picture()
		check(t, err)
		picture, err := png.Decode(bytes.NewReader(shot))
		check(t, err)
		b := picture.Bounds()
		if b.Dx() != browser.Width || b.Dy() != browser.Height {
			t.Errorf("the picture has %d × %d pixels", b.Dx(), b.Dy())
		}
		if n := colours(picture); n < 8 {
			t.Errorf("there are %d colours, want the timeline's", n)
		}
		orange := 0
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				r, g, bl, _ := picture.At(x, y).RGBA()
				if r>>8 > 200 && g>>8 > 80 && g>>8 < 190 && bl>>8 < 90 {
					orange++
				}
			}
		}
		if orange < 1000 {
			t.Errorf("there are %d orange pixels, want the waits", orange)
		}
	})
}

// colours counts the colours that cover something, a thousandth of the picture
// or more.
func colours(p image.Image) int {
	seen := make(map[[3]uint32]int)
	b := p.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := p.At(x, y).RGBA()
			seen[[3]uint32{r >> 8, g >> 8, bl >> 8}]++
		}
	}
	n := 0
	for _, pixels := range seen {
		if pixels > b.Dx()*b.Dy()/1000 {
			n++
		}
	}
	return n
}
