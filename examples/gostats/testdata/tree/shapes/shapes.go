// Package shapes is small.
package shapes

import "math"

type Shape interface{ Area() float64 }

type (
	Square struct{ side float64 }
	Circle struct{ radius float64 }
)

func (s Square) Area() float64 { return s.side * s.side }
func (c Circle) Area() float64 { return math.Pi * c.radius * c.radius }

func Sum(shapes ...Shape) (sum float64) {
	for _, s := range shapes {
		sum += s.Area()
	}
	return sum
}
