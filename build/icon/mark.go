package main

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"strings"
)

// The mark: a commit that two branches leave, one of them the checkout in hand.
// All lengths are on a grid of 1024 units; every size is drawn from these numbers,
// so a 16-pixel icon is as sharp as a 1024-pixel one.
const (
	grid   = 1024.0
	margin = 64.0  // clear space around the tile
	corner = 200.0 // radius of the tile's corners
	stroke = 60.0  // width of the lines
	dot    = 98.0  // outer radius of a dot
	hole   = 42.0  // radius of the hole in a dot that is not the current one
)

type point struct{ x, y float64 }

// curve is a cubic Bézier; it is the only kind of line that the mark has.
type curve [4]point

var (
	tile   = color.NRGBA{0x14, 0x17, 0x1b, 0xff}
	muted  = color.NRGBA{0x5b, 0x6b, 0x91, 0xff}
	accent = color.NRGBA{0x7a, 0xa2, 0xf7, 0xff}
)

var (
	root  = point{512, 748}
	left  = point{296, 288}
	right = point{728, 288}

	leftLine  = curve{root, {512, 440}, {296, 600}, left}
	rightLine = curve{root, {512, 440}, {728, 600}, right}
)

// at returns the point of the curve at t in [0, 1].
func (c curve) at(t float64) point {
	u := 1 - t
	b := [4]float64{u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t}
	var p point
	for i, q := range c {
		p.x += b[i] * q.x
		p.y += b[i] * q.y
	}
	return p
}

// line cuts the curve into short straight pieces.
func (c curve) line() []point {
	const pieces = 48
	out := make([]point, pieces+1)
	for i := range out {
		out[i] = c.at(float64(i) / pieces)
	}
	return out
}

// toLine returns how far p is from a line of straight pieces. Farther away than two strokes
// it stops counting.
func toLine(p point, line []point) float64 {
	best := 2 * stroke
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if p.y < min(a.y, b.y)-best || p.y > max(a.y, b.y)+best || p.x < min(a.x, b.x)-best || p.x > max(a.x, b.x)+best {
			continue
		}
		best = min(best, toSegment(p, a, b))
	}
	return best
}

func toSegment(p, a, b point) float64 {
	dx, dy := b.x-a.x, b.y-a.y
	t := ((p.x-a.x)*dx + (p.y-a.y)*dy) / (dx*dx + dy*dy)
	t = min(max(t, 0), 1)
	return math.Hypot(p.x-a.x-t*dx, p.y-a.y-t*dy)
}

// toTile is the signed distance to the rounded square: negative inside.
func toTile(p point) float64 {
	half := grid/2 - margin - corner
	dx := math.Abs(p.x-grid/2) - half
	dy := math.Abs(p.y-grid/2) - half
	outside := math.Hypot(max(dx, 0), max(dy, 0))
	return outside + min(max(dx, dy), 0) - corner
}

func toDot(p, centre point) float64 { return math.Hypot(p.x-centre.x, p.y-centre.y) - dot }

func toHole(p, centre point) float64 { return math.Hypot(p.x-centre.x, p.y-centre.y) - hole }

// draw renders the mark at size × size pixels. Coverage of a pixel is taken from the
// distance to each edge, which is a smooth edge one pixel wide at any size.
func draw(size int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	leftPieces, rightPieces := leftLine.line(), rightLine.line()
	unit := grid / float64(size) // grid units in one pixel
	cover := func(distance float64) float64 { return min(max(0.5-distance/unit, 0), 1) }
	for y := range size {
		for x := range size {
			p := point{(float64(x) + 0.5) * unit, (float64(y) + 0.5) * unit}
			alpha := cover(toTile(p))
			if alpha == 0 {
				continue
			}
			c := tile
			c = mix(c, muted, cover(toLine(p, leftPieces)-stroke/2))
			c = mix(c, accent, cover(toLine(p, rightPieces)-stroke/2))
			for _, old := range []struct {
				at  point
				ink color.NRGBA
			}{{left, muted}, {root, accent}} {
				c = mix(c, old.ink, cover(toDot(p, old.at)))
				c = mix(c, tile, cover(toHole(p, old.at)))
			}
			c = mix(c, accent, cover(toDot(p, right)))
			c.A = uint8(math.Round(alpha * 255))
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func mix(under, over color.NRGBA, amount float64) color.NRGBA {
	blend := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a)*(1-amount) + float64(b)*amount))
	}
	return color.NRGBA{blend(under.R, over.R), blend(under.G, over.G), blend(under.B, over.B), 0xff}
}

// svg gives the same mark as a drawing that scales, for icon themes.
func svg() string {
	var b strings.Builder
	hex := func(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
	line := func(c curve, ink color.NRGBA) {
		fmt.Fprintf(&b, "  <path d=\"M%g %gC%g %g %g %g %g %g\" fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"/>\n",
			c[0].x, c[0].y, c[1].x, c[1].y, c[2].x, c[2].y, c[3].x, c[3].y, hex(ink), stroke)
	}
	circle := func(p point, radius float64, ink color.NRGBA) {
		fmt.Fprintf(&b, "  <circle cx=\"%g\" cy=\"%g\" r=\"%g\" fill=\"%s\"/>\n", p.x, p.y, radius, hex(ink))
	}
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\">\n", grid, grid)
	fmt.Fprintf(&b, "  <rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" rx=\"%g\" fill=\"%s\"/>\n",
		margin, margin, grid-2*margin, grid-2*margin, corner, hex(tile))
	line(leftLine, muted)
	line(rightLine, accent)
	circle(left, dot, muted)
	circle(left, hole, tile)
	circle(root, dot, accent)
	circle(root, hole, tile)
	circle(right, dot, accent)
	b.WriteString("</svg>\n")
	return b.String()
}
