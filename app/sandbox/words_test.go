package sandbox

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/ocr"
	"deedkeep/app/pdf"
)

func TestPageWords(t *testing.T) {
	words, spans := pageWords([]rune(" Deed  Böok\r\n2417\r\n\r\nPage\x02 883" + strings.Repeat("x", 300)))
	rects := make([][]document.Rect, len(words))
	for i := range rects {
		rects[i] = []document.Rect{{Left: 0.1, Top: 0.2, Right: 0.25, Bottom: 1}}
	}
	rects[1] = nil // not visible
	box := ocr.Box{Left: 1000, Top: 2000, Right: 2500, Bottom: 10000}
	want := []ocr.Word{
		{Text: "Deed", Box: box, Confidence: 100, Line: 1, Paragraph: 1}, {Text: "2417", Box: box, Confidence: 100, Line: 2, Paragraph: 1},
		{Text: "Page", Box: box, Confidence: 100, Line: 3, Paragraph: 2},
		{Text: "883" + strings.Repeat("x", ocr.MaxWordText-3), Box: box, Confidence: 100, Line: 3, Paragraph: 2},
	}
	if got := placeWords(words, rects); !reflect.DeepEqual(got, want) {
		t.Errorf("words are %+v, want %+v", got, want)
	}
	if want := (pdf.Span{Start: 7, End: 11}); len(spans) != 5 || spans[1] != want {
		t.Errorf("spans are %+v, want 5, the second %+v", spans, want)
	}
	if words, _ := pageWords([]rune(strings.Repeat("a ", ocr.MaxWords+10))); len(words) != ocr.MaxWords {
		t.Errorf("got %d words, want %d", len(words), ocr.MaxWords)
	}
}

func TestWordsRoundTrip(t *testing.T) {
	long := make([]ocr.Word, maxWordsPerFrame+1)
	for i := range long {
		long[i] = ocr.Word{Text: strings.Repeat("\u00a7", ocr.MaxWordText/2), Box: ocr.Box{Right: ocr.Scale, Bottom: ocr.Scale}, Confidence: 100,
			Line: ocr.MaxWords, Paragraph: ocr.MaxWords}
	}
	if size := len(encodeJSON(t, long[:maxWordsPerFrame])); size > maxContent[frameWords] {
		t.Errorf("a frame of the longest words has %d bytes, want at most %d", size, maxContent[frameWords])
	}
	a := &wordsResult{}
	for _, part := range [][]ocr.Word{long[:maxWordsPerFrame], long[maxWordsPerFrame:]} {
		if err := a.add(frameWords, encodeJSON(t, part), false); err != nil {
			t.Fatalf("add frame: %v", err)
		}
	}
	if !reflect.DeepEqual(a.words, long) {
		t.Errorf("got %d words, want those that were sent", len(a.words))
	}
	const good = `{"w":"a","x":{"l":0,"t":0,"r":1,"b":1},"c":1,"n":1,"p":1}`
	for name, content := range map[string]string{
		"nothing": ``, "no JSON": `[` + good, "no list": good, "empty list": `[]`, "null": `null`,
		"no text": `[` + strings.Replace(good, `"a"`, `""`, 1) + `]`, "off the page": `[` + strings.Replace(good, `"r":1`, `"r":10001`, 1) + `]`,
		"fraction": `[` + strings.Replace(good, `"r":1`, `"r":0.5`, 1) + `]`,
	} {
		if err := (&wordsResult{}).add(frameWords, []byte(content), false); !errors.Is(err, errProtocol) {
			t.Errorf("%s: error = %v, want a protocol error", name, err)
		}
	}
	for rotation, valid := range map[int]bool{0: true, 270: true, -90: false, 45: false, 360: false} {
		if err := (&wordsResult{}).finish(taskDone{Rotation: rotation}); (err == nil) != valid || err != nil && !errors.Is(err, errProtocol) {
			t.Errorf("rotation %d: error = %v, want a protocol error: %t", rotation, err, !valid)
		}
	}
	full := &wordsResult{words: make([]ocr.Word, ocr.MaxWords)}
	if err := full.add(frameWords, []byte(`[`+good+`]`), false); !errors.Is(err, errProtocol) {
		t.Errorf("too many words: error = %v, want a protocol error", err)
	}
	if err := (&wordsResult{}).add(frameText, []byte(`[`+good+`]`), false); !errors.Is(err, errProtocol) {
		t.Errorf("text: error = %v, want a protocol error", err)
	}
}
