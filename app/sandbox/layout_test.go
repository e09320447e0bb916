package sandbox

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"

	"deedkeep/app/document"
)

func encodeJSON(t *testing.T, message any) []byte {
	t.Helper()
	content, err := json.Marshal(message)
	if err != nil {
		t.Fatalf("encode %v: %v", message, err)
	}
	return content
}

func TestSizesRoundTrip(t *testing.T) {
	sizes := []document.PageSize{{Width: 612, Height: 792}, {Width: 0.5, Height: 14400, ImageWidth: 2550}}
	a := &sizesResult{maxPages: 3}
	a.reset()
	for range 2 {
		if err := a.add(frameSizes, encodeJSON(t, sizes[:1]), false); err != nil {
			t.Fatalf("add frame: %v", err)
		}
		sizes[0], sizes[1] = sizes[1], sizes[0]
	}
	if err := a.finish(taskDone{}); err != nil || !reflect.DeepEqual(a.sizes, sizes) {
		t.Errorf("sizes = %+v, %v; want %+v", a.sizes, err, sizes)
	}
	const good = `{"Width":1,"Height":1}`
	for name, content := range map[string]string{
		"nothing": ``, "no JSON": `[` + good, "no list": good, "empty list": `[]`, "no width": `[{"Width":0,"Height":1}]`, "null": `null`,
		"endless": `[{"Width":1,"Height":1e308}]`, "negative": `[{"Width":-1,"Height":1}]`,
		"too many": `[` + good + `,` + good + `]`, "wide": `[{"Width":1,"Height":1,"ImageWidth":4294967295}]`,
		"negative image width": `[{"Width":1,"Height":1,"ImageWidth":-1}]`,
	} {
		a := &sizesResult{maxPages: 1}
		if err := a.add(frameSizes, []byte(content), false); !errors.Is(err, errProtocol) {
			t.Errorf("%s: error = %v, want a protocol error", name, err)
		}
	}
	if err := (&sizesResult{maxPages: 1}).add(frameText, []byte(`[`+good+`]`), false); !errors.Is(err, errProtocol) {
		t.Errorf("text: error = %v, want a protocol error", err)
	}
	if err := (&sizesResult{maxPages: 1}).finish(taskDone{}); !errors.Is(err, errProtocol) {
		t.Errorf("no sizes: error = %v, want a protocol error", err)
	}
}

func TestMarksRoundTrip(t *testing.T) {
	found := [][]document.Rect{{{Left: 0, Top: 0.25, Right: 0.5, Bottom: 1}, {Left: 0.125, Top: 0.5, Right: 0.25, Bottom: 0.75}},
		nil, {{Left: 0, Top: 0, Right: 1, Bottom: 1}}}
	a := &marksResult{}
	a.reset()
	if err := a.add(frameMarks, encodeJSON(t, encodeMarks(found)), false); err != nil || !reflect.DeepEqual(a.marks, found) {
		t.Errorf("marks = %+v, %v; want %+v", a.marks, err, found)
	}
	if err := a.add(frameMarks, encodeJSON(t, encodeMarks(found)), false); !errors.Is(err, errProtocol) {
		t.Errorf("second frame of marks: error = %v, want a protocol error", err)
	}
	if err := (&marksResult{}).finish(taskDone{}); !errors.Is(err, errProtocol) {
		t.Errorf("no marks: error = %v, want a protocol error", err)
	}
	for name, content := range map[string]string{
		"nothing": ``, "no JSON": `{`, "too many": `{"count":201}`, "negative": `{"count":-1}`, "far too many": `{"count":9223372036854775807}`,
		"another's": `{"count":1,"rects":[[1,0,0,1,1]]}`, "turned": `{"count":1,"rects":[[0,2,0,1,1]]}`,
		"upside down": `{"count":1,"rects":[[0,0,2,1,1]]}`, "off the page": `{"count":1,"rects":[[0,0,0,1048577,1]]}`,
		"below it": `{"count":1,"rects":[[0,0,0,1,4294967295]]}`, "no integer": `{"count":1,"rects":[[0,0,0,0.5,1]]}`,
		"above it": `{"count":1,"rects":[[0,0,-1,1,1]]}`, "out of order": `{"count":2,"rects":[[1,0,0,1,1],[0,0,0,1,1]]}`,
	} {
		if err := (&marksResult{}).add(frameMarks, []byte(content), false); !errors.Is(err, errProtocol) {
			t.Errorf("%s: error = %v, want a protocol error", name, err)
		}
	}
	many := make([][]document.Rect, maxMarks+5)
	for i := range many {
		many[i] = slices.Repeat([]document.Rect{{Left: 1, Top: 1, Right: 1, Bottom: 1}}, 100)
	}
	if n := len(encodeJSON(t, encodeMarks(many))); n > maxContent[frameMarks] {
		t.Errorf("encoded %d bytes, want at most %d", n, maxContent[frameMarks])
	}
}

// FuzzLayout checks that invalid sizes and marks from a worker are rejected.
func FuzzLayout(f *testing.F) {
	f.Add([]byte(frame(frameSizes, `[{"Width":612,"Height":792}]`) + frame(frameDone, "{}")))
	f.Add([]byte(frame(frameMarks, `{"count":1,"rects":[[0,0,0,1048576,1048576]]}`) + frame(frameDone, "{}")))
	f.Fuzz(func(t *testing.T, output []byte) {
		sizes := &sizesResult{maxPages: 10}
		if err := fuzzRunTask(t, output, taskSizes, sizes); err == nil && (len(sizes.sizes) == 0 || len(sizes.sizes) > 10) {
			t.Errorf("got %d sizes, want 1 to 10", len(sizes.sizes))
		}
		marks := &marksResult{}
		if err := fuzzRunTask(t, output, taskMarks, marks); err != nil {
			return
		}
		for _, rects := range marks.marks {
			for _, r := range rects {
				if r.Left < 0 || r.Right > 1 || r.Top < 0 || r.Bottom > 1 || r.Left > r.Right || r.Top > r.Bottom {
					t.Errorf("got rectangle %+v, want one within the page", r)
				}
			}
		}
	})
}
