package model

import (
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model/area"
)

// noteIn returns the input of a note with some members. A member that isn't sent is "".
func noteIn(page int64, areaJSON string) NoteInput {
	in := NoteInput{Text: Some(StringInput("Check the vesting."))}
	if page != 0 {
		in.Page = Some(IDInput{Present: true, Valid: true, Value: page})
	}
	if areaJSON != "" {
		in.Area = Some(JSONInput(areaJSON))
	}
	return in
}

func TestNoteArea(t *testing.T) {
	t.Parallel()
	const inside = `{"x":72,"y":144.5,"width":320,"height":36.004}`
	two := 2
	sizes := []area.Size{{Width: 612, Height: 792}, {Width: 792, Height: 612.5}}
	for name, row := range map[string]struct {
		page  int64
		area  string
		sizes []area.Size
		want  string // sentences, or the area
	}{
		"inside":            {1, inside, sizes, "1: 72 144.5 320 36"},
		"the complete page": {2, `{"x":0,"y":0,"width":792,"height":612.5}`, sizes, "2: 0 0 792 612.5"},
		"none":              {1, `null`, sizes, "1: none"},
		"without a page":    {0, inside, sizes, "The area field must not be set without a page."},
		"no page image":     {1, inside, nil, "The area field must be empty because the page has no image."},
		"no such page":      {3, inside, sizes, "The page field must be a page of the document, from 1 to 2."},
		"a text":            {1, `"72,144,320,36"`, sizes, "The area field must be an object with x, y, width, and height."},
		"a list":            {1, `[72,144,320,36]`, sizes, "The area field must be an object with x, y, width, and height."},
		"members missing": {1, `{"x":72,"width":null}`, sizes,
			"The y field is required. The width field is required. The height field is required."},
		"no numbers": {1, `{"x":"72","y":true,"width":1e999,"height":[1]}`, sizes,
			"The x field must be a number. The y field must be a number. The width field must be a number. " +
				"The height field must be a number."},
		"no size": {1, `{"x":72,"y":144,"width":0,"height":-5}`, sizes,
			"The width field must be greater than 0. The height field must be greater than 0."},
		"outside": {1, `{"x":500,"y":144,"width":320,"height":36}`, sizes,
			"The area field must be inside the page, which is 612 × 792 points."},
		"outside, fraction": {2, `{"x":1,"y":600,"width":1,"height":36}`, sizes,
			"The area field must be inside the page, which is 792 × 612.5 points."},
		"left of the page": {1, `{"x":-5,"y":144,"width":320,"height":36}`, sizes,
			"The area field must be inside the page, which is 612 × 792 points."},
	} {
		note, fields := noteIn(row.page, row.area).Check(Note{}, &two, row.sizes)
		if got := describeNote(note, fields); got != row.want {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

// describeNote returns the problems of a note, or its page and area.
func describeNote(n Note, fields errs.Fields) string {
	var sentences []string
	for _, f := range fields {
		sentences = append(sentences, f.Sentences()...)
	}
	if len(sentences) > 0 {
		return strings.Join(sentences, " ")
	}
	if n.Area == nil {
		return strings.TrimSpace(string(NumberInput(n.Page).JSON())) + ": none"
	}
	var sides []string
	for _, side := range []float64{n.Area.X, n.Area.Y, n.Area.Width, n.Area.Height} {
		sides = append(sides, string(marshalPlain(side)))
	}
	return string(NumberInput(n.Page).JSON()) + ": " + strings.Join(sides, " ")
}

// A change of the page removes the area, unless it comes with another one. Other changes keep it.
func TestNoteAreaOfAnotherPage(t *testing.T) {
	t.Parallel()
	two := 2
	sizes := []area.Size{{Width: 612, Height: 792}, {Width: 612, Height: 792}}
	old := Note{ID: 1, Page: 1, Text: "Old", Area: &area.Rect{X: 1, Y: 2, Width: 3, Height: 4}}
	for name, row := range map[string]struct {
		in   NoteInput
		want string
	}{
		"another text":          {NoteInput{Text: Some(StringInput("New"))}, "1: 1 2 3 4"},
		"the same page":         {NoteInput{Page: Some(NewIDInput(1))}, "1: 1 2 3 4"},
		"another page":          {NoteInput{Page: Some(NewIDInput(2))}, "2: none"},
		"no page":               {NoteInput{Page: Some(IDInput{})}, "null: none"},
		"another page and area": {noteIn(2, `{"x":5,"y":6,"width":7,"height":8}`), "2: 5 6 7 8"},
		"another area":          {noteIn(0, `{"x":5,"y":6,"width":7,"height":8}`), "1: 5 6 7 8"},
		"no area":               {NoteInput{Area: Some(JSONInput("null"))}, "1: none"},
		"no page, but with area": {NoteInput{Page: Some(IDInput{}), Area: Some(JSONInput(`{"x":5,"y":6,"width":7,"height":8}`))},
			"The area field must not be set without a page."},
	} {
		note, fields := row.in.Check(old, &two, sizes)
		if got := describeNote(note, fields); got != row.want {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

func TestNoteAreaInHistory(t *testing.T) {
	t.Parallel()
	small, large := &area.Rect{X: 72, Y: 36, Width: 180, Height: 72}, &area.Rect{X: 72, Y: 36, Width: 360, Height: 72}
	const smallText, largeText = "page 3, 2.5 × 1.0 in., 1.0 in. from the left, 0.5 in. from the top",
		"page 3, 5.0 × 1.0 in., 1.0 in. from the left, 0.5 in. from the top"
	for name, row := range map[string]struct {
		kind     string
		from, to Note
		want     []string
	}{
		"added": {"note.changed", Note{Page: 3}, Note{Page: 3, Area: small}, []string{"Highlight: (blank) → " + smallText}},
		"changed": {"note.changed", Note{Page: 3, Area: small}, Note{Page: 3, Area: large},
			[]string{"Highlight: " + smallText + " → " + largeText}},
		"removed": {"note.changed", Note{Page: 3, Area: small}, Note{Page: 3}, []string{"Highlight: " + smallText + " → (blank)"}},
		"same":    {"note.changed", Note{Page: 3, Area: small}, Note{Page: 3, Area: &area.Rect{X: 72, Y: 36, Width: 180, Height: 72}}, nil},
		"created": {"note.created", Note{}, Note{Page: 3, Area: small, Text: "See"},
			[]string{"Note: See", "Page: 3", "Highlight: " + smallText}},
	} {
		e := Event{Kind: row.kind, Changes: row.from.Changes(row.to)}
		e.Describe(Describer{})
		if got := e.Texts(); !slices.Equal(got, row.want) {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}
