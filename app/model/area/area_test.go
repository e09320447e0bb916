package area_test

import (
	"math"
	"testing"

	"deedkeep/app/model/area"
)

func TestOn(t *testing.T) {
	t.Parallel()
	letter := area.Size{Width: 612, Height: 792}
	for name, row := range map[string]struct {
		in, want area.Rect
		ok       bool
	}{
		"inside":           {area.Rect{X: 72, Y: 144, Width: 180, Height: 36}, area.Rect{X: 72, Y: 144, Width: 180, Height: 36}, true},
		"rounded":          {area.Rect{X: 1.006, Y: 2.004, Width: 3.3333, Height: 4.5}, area.Rect{X: 1.01, Y: 2, Width: 3.33, Height: 4.5}, true},
		"the page":         {area.Rect{Width: 612, Height: 792}, area.Rect{Width: 612, Height: 792}, true},
		"rounded page":     {area.Rect{X: -0.04, Width: 612.09, Height: 792.04}, area.Rect{Width: 612, Height: 792}, true},
		"too wide":         {area.Rect{X: 500, Width: 112.2, Height: 10}, area.Rect{}, false},
		"too high":         {area.Rect{Y: 790, Width: 10, Height: 3}, area.Rect{}, false},
		"left of the page": {area.Rect{X: -1, Width: 10, Height: 10}, area.Rect{}, false},
		"no width":         {area.Rect{X: 1, Y: 1, Height: 10}, area.Rect{}, false},
		"too small":        {area.Rect{X: 1, Y: 1, Width: 0.001, Height: 10}, area.Rect{}, false},
		"no number":        {area.Rect{X: math.NaN(), Width: 1, Height: 1}, area.Rect{}, false},
		"infinite":         {area.Rect{Width: math.Inf(1), Height: 1}, area.Rect{}, false},
	} {
		on, ok := row.in.On(letter)
		if ok != row.ok || ok && on != row.want {
			t.Errorf("%s: got %+v, %t, want %+v, %t", name, on, ok, row.want, row.ok)
		}
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	const want = "2.5 × 1.0 in., 1.0 in. from the left, 3.2 in. from the top"
	if got := (area.Rect{X: 72, Y: 230.4, Width: 180, Height: 72}).String(); got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}
