package figure

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

func canvasOf(w, h vg.Length) draw.Canvas { return draw.New(vgsvg.New(w, h)) }
