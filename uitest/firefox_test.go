package uitest

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestFirefox is a first look with another browser: the page is drawn there too.
// It takes a picture, in which the waits' orange and other colours must be.
func TestFirefox(t *testing.T) {
	firefox, err := exec.LookPath("firefox-esr")
	if err != nil {
		t.Skip("no firefox-esr; make deps installs it")
	}
	html, shot := pageOf(t, storeTrace(t)), pathOf(t, "shot.png")
	var picture image.Image
	// Firefox takes its picture when the page is loaded, which may be before the
	// data is inflated and drawn, beside other load again and again.
	for deadline := time.Now().Add(time.Minute); picture == nil || colours(picture) < 8 && time.Now().Before(deadline); {
		cmd := exec.Command(firefox, "--headless", "--no-remote", "--profile", t.TempDir(),
			"--screenshot", shot, "--window-size=1400,900", fileURL(html))
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "MOZ_REMOTE_SETTINGS_DEVTOOLS=0")
		late := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
		out, err := cmd.CombinedOutput()
		late.Stop()
		if err != nil {
			t.Fatalf("firefox: %v: %s", err, out)
		}
		b, err := os.ReadFile(shot)
		check(t, err)
		picture, err = png.Decode(bytes.NewReader(b))
		check(t, err)
	}
	if to := os.Getenv("SCOPEVIEW_UITEST_PICTURES"); to != "" {
		b, err := os.ReadFile(shot)
		check(t, err)
		check(t, os.WriteFile(filepath.Join(to, "firefox.png"), b, 0o644))
	}
	if n := colours(picture); n < 8 {
		t.Errorf("Firefox shows %d colours, want the timeline's", n)
	}
	orange := 0
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := picture.At(x, y).RGBA()
			if r>>8 > 200 && g>>8 > 80 && g>>8 < 190 && bl>>8 < 90 {
				orange++
			}
		}
	}
	if orange < 1000 {
		t.Errorf("Firefox shows %d orange pixels, want the waits", orange)
	}
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
