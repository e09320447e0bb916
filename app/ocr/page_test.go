package ocr

import (
	"strings"
	"testing"
)

func TestPageText(t *testing.T) {
	page := Page{Words: []Word{
		{Text: "Deed", Line: 1, Paragraph: 1, Confidence: 90}, {Text: "Book", Line: 1, Paragraph: 1, Confidence: 80},
		{Text: "2417", Line: 2, Paragraph: 1, Confidence: 70}, {Text: "Page", Line: 3, Paragraph: 2, Confidence: 60},
	}}
	for name, c := range map[string]struct {
		page       Page
		text       string
		confidence int
	}{
		"lines and paragraphs": {page, "Deed Book\n2417\n\nPage", 75},
		"blank":                {Page{}, "", 0},
		"longer words count more": {Page{Words: []Word{{Text: "a", Confidence: 0, Line: 1, Paragraph: 1},
			{Text: "abc", Confidence: 100, Line: 1, Paragraph: 1}}}, "a abc", 75},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.page.Text(); got != c.text {
				t.Errorf("text is %q, want %q", got, c.text)
			}
			if got := c.page.Confidence(); got != c.confidence {
				t.Errorf("confidence is %d, want %d", got, c.confidence)
			}
		})
	}
}

func TestWordValid(t *testing.T) {
	good := Word{Text: "Deed", Box: Box{0, 10, Scale, 20}, Confidence: 100, Line: 1, Paragraph: 1}
	if !good.Valid() {
		t.Errorf("%+v is not valid", good)
	}
	for name, change := range map[string]func(*Word){
		"no text":           func(w *Word) { w.Text = "" },
		"long text":         func(w *Word) { w.Text = strings.Repeat("a", MaxWordText+1) },
		"space":             func(w *Word) { w.Text = "a b" },
		"control character": func(w *Word) { w.Text = "a\x00" },
		"not UTF-8":         func(w *Word) { w.Text = "\xff" },
		"left of the page":  func(w *Word) { w.Box.Left = -1 },
		"turned":            func(w *Word) { w.Box.Left, w.Box.Right = 5, 4 },
		"below the page":    func(w *Word) { w.Box.Bottom = Scale + 1 },
		"upside down":       func(w *Word) { w.Box.Top = 21 },
		"right of the page": func(w *Word) { w.Box.Right = Scale + 1 },
		"confidence":        func(w *Word) { w.Confidence = 101 },
		"no line":           func(w *Word) { w.Line = 0 },
		"no paragraph":      func(w *Word) { w.Paragraph = 0 },
		"many lines":        func(w *Word) { w.Line = MaxWords + 1 },
	} {
		word := good
		if change(&word); word.Valid() {
			t.Errorf("%s: %+v is valid", name, word)
		}
	}
}
