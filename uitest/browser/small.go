package browser

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"slices"
)

// Small returns a picture a third as large, with the 256 most frequent colours. The page has
// hardly more; only the edges of letters lose some.
func Small(picture []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, err
	}
	r := full.Bounds()
	count := map[color.RGBA]int{}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)
			count[color.RGBA{c.R &^ 3, c.G &^ 3, c.B &^ 3, c.A}]++ // similar colours count as one
		}
	}
	often := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return count[b] - count[a] })
	var colors color.Palette
	for _, c := range often[:min(256, len(often))] {
		colors = append(colors, c)
	}
	less := image.NewPaletted(r, colors)
	draw.Draw(less, r, full, r.Min, draw.Src)
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, less)
	return b.Bytes(), err
}
