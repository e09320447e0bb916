package sandbox

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"deedkeep/app/document"
)

func TestSizesRoundTrip(t *testing.T) {
	sizes := []document.PageSize{{Width: 612, Height: 792}, {Width: 0.5, Height: 14400, ImageWidth: 2550}}
	a := &sizesResult{maxPages: 3}
	a.reset()
	for range 2 {
		if err := a.add(frameSizes, encodeSizes(sizes[:1]), false); err != nil {
			t.Fatalf("add frame: %v", err)
		}
		sizes[0], sizes[1] = sizes[1], sizes[0]
	}
	if err := a.finish(taskDone{}); err != nil || !reflect.DeepEqual(a.sizes, sizes) {
		t.Errorf("sizes = %+v, %v; want %+v", a.sizes, err, sizes)
	}
	size := func(w, h float64) []byte { return encodeSizes([]document.PageSize{{Width: w, Height: h}}) }
	for name, content := range map[string][]byte{
		"nothing": {}, "a part": make([]byte, pageSizeSize-1), "no width": size(0, 1), "no number": size(math.NaN(), 1),
		"endless":  size(1, math.Inf(1)),
		"too many": append(size(1, 1), size(1, 1)...), "wide": append(size(1, 1)[:16], 0xFF, 0xFF, 0xFF, 0xFF),
	} {
		a := &sizesResult{maxPages: 1}
		if err := a.add(frameSizes, content, false); !errors.Is(err, errProtocol) {
			t.Errorf("%s: error = %v, want a protocol error", name, err)
		}
	}
	if err := (&sizesResult{maxPages: 1}).add(frameText, size(1, 1), false); !errors.Is(err, errProtocol) {
		t.Errorf("text: error = %v, want a protocol error", err)
	}
	if err := (&sizesResult{maxPages: 1}).finish(taskDone{}); !errors.Is(err, errProtocol) {
		t.Errorf("no sizes: error = %v, want a protocol error", err)
	}
}

func TestMarksRoundTrip(t *testing.T) {
	marks := [][]document.Rect{{{Left: 0, Top: 0.25, Right: 0.5, Bottom: 1}, {Left: 0.125, Top: 0.5, Right: 0.25, Bottom: 0.75}},
		nil, {{Left: 0, Top: 0, Right: 1, Bottom: 1}}}
	a := &marksResult{}
	a.reset()
	if err := a.add(frameMarks, encodeMarks(marks), false); err != nil || !reflect.DeepEqual(a.marks, marks) {
		t.Errorf("marks = %+v, %v; want %+v", a.marks, err, marks)
	}
	if err := a.add(frameMarks, encodeMarks(marks), false); !errors.Is(err, errProtocol) {
		t.Errorf("second frame of marks: error = %v, want a protocol error", err)
	}
	if err := (&marksResult{}).finish(taskDone{}); !errors.Is(err, errProtocol) {
		t.Errorf("no marks: error = %v, want a protocol error", err)
	}
	record := func(n int, mark uint16, sides ...uint32) []byte {
		b := binary.BigEndian.AppendUint16(nil, uint16(n))
		b = binary.BigEndian.AppendUint16(b, mark)
		for _, side := range sides {
			b = binary.BigEndian.AppendUint32(b, side)
		}
		return b
	}
	for name, content := range map[string][]byte{
		"nothing": {}, "half a record": make([]byte, 3), "too many": record(document.MaxHighlights+1, 0, 0, 0, 1, 1),
		"another's": record(1, 1, 0, 0, 1, 1), "turned": record(1, 0, 2, 0, 1, 1), "upside down": record(1, 0, 0, 2, 1, 1),
		"off the page": record(1, 0, 0, 0, pageUnits+1, 1), "below it": record(1, 0, 0, 0, 1, math.MaxUint32),
		"out of order": append(record(2, 1, 0, 0, 1, 1), record(2, 0, 0, 0, 1, 1)[2:]...),
	} {
		if err := (&marksResult{}).add(frameMarks, content, false); !errors.Is(err, errProtocol) {
			t.Errorf("%s: error = %v, want a protocol error", name, err)
		}
	}
	many := make([][]document.Rect, document.MaxHighlights+5)
	for i := range many {
		many[i] = make([]document.Rect, 100)
	}
	if n := len(encodeMarks(many)); n > maxContent[frameMarks] {
		t.Errorf("encoded %d bytes, want at most %d", n, maxContent[frameMarks])
	}
}

// FuzzLayout checks that invalid sizes and marks from a worker are rejected.
func FuzzLayout(f *testing.F) {
	f.Add([]byte(frame(frameSizes, string(encodeSizes([]document.PageSize{document.USLetter}))) + frame(frameDone, "{}")))
	f.Add([]byte(frame(frameMarks, string(encodeMarks([][]document.Rect{{{Right: 1, Bottom: 1}}}))) + frame(frameDone, "{}")))
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
