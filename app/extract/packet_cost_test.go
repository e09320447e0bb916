package extract_test

import (
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
)

// A page with a very long line, or with very many lines, takes about as long as any other one.
func TestStartsOnHostilePage(t *testing.T) {
	const limit = 4 * time.Second // on a slow machine
	for name, text := range map[string]string{
		"one line": strings.Repeat("this deed made and of the book 12 page 4 ", 25000),
		"headings": strings.Repeat("MORTGAGE\n", 100000),
		"signed":   "By: x\n" + strings.Repeat("MORTGAGE\n", 100000),
		"unsigned": strings.Repeat("Book 12 Page 4\n", 100000),
	} {
		pages := []extract.Page{extract.PlainText(text)}
		start := time.Now()
		extract.Starts(pages, extract.DefaultRules(), time.Now())
		took := time.Since(start)
		t.Logf("%s: %v", name, took)
		if took > limit {
			t.Errorf("%s takes %v, want at most %v", name, took, limit)
		}
	}
}

// The rest of pages with more text than is read is left out, and so are the pages after them.
func TestReadLongPages(t *testing.T) {
	page := extract.PlainText("SATISFACTION OF MORTGAGE\n" + strings.Repeat(strings.Repeat("x", 60)+"\n", 460))
	pages := []extract.Page{page, page, page, page, page, page}
	fields := extract.Read(pages, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())
	if kind := fields[extract.Type].Value(); kind != "Release or Satisfaction" {
		t.Errorf("the type is %q, want a release", kind)
	}
}
