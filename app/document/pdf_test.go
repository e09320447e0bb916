package document_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
)

func TestPDFHeader(t *testing.T) {
	with := func(before string) []byte { return []byte(before + "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n") }
	macBinary := "\x00\x08deed.pdf" + strings.Repeat("\x00", 55) + "PDF CARO\x01\x00" + strings.Repeat("\x00", 53)
	checkInspections(t, []row{
		{"at the start", "pdf", with(""), ""},
		{"mark before", "pdf", with("\xef\xbb\xbf"), ""},
		{"blank lines before", "pdf", with("\r\n\r\n  "), ""},
		{"text before", "pdf", with("Some junk before the header\n"), ""},
		{"table before", "pdf", with("a,b,c\n1,2,3\n4,5,6\n"), ""},
		{"printer header before", "pdf", with("\x1b%-12345X@PJL JOB\r\n@PJL ENTER LANGUAGE=PDF\r\n"), ""},
		{"web server's header before", "pdf", with("Content-Type: application/pdf\r\nContent-Length: 77\r\n\r\n"), ""},
		{"MacBinary before", "pdf", with(macBinary), ""},
		{"zeros before", "pdf", with(strings.Repeat("\x00", 500)), ""},
		{"begins at byte 1023", "pdf", with(strings.Repeat(" ", 1023)), ""},
		{"begins at byte 1024", "pdf", with(strings.Repeat(" ", 1024)), mismatch},
		{"web page before", "pdf", with("<!DOCTYPE html><html><!--"), mismatch},
		{"web page after a line", "pdf", with("hello\n<script>alert(1)</script>"), mismatch},
		{"upper-case page after a line", "pdf", with("hello\n<HTML>"), mismatch},
		{"svg before", "pdf", with("<svg xmlns='http://www.w3.org/2000/svg'>"), mismatch},
		{"image before", "pdf", with("GIF89a\x01\x00\x01\x00"), mismatch},
		{"zip before", "pdf", with(string(buildZip(part("a")))), mismatch},
		{"program before", "pdf", with("MZE\x00\x01\x00\x00\x00"), mismatch},
		{"script before", "pdf", with("#!/bin/sh\nexit\n"), mismatch},
		{"rtf before", "pdf", with(`{\rtf1 `), mismatch},
		{"compound file before", "pdf", with("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), mismatch},
		{"only a comment", "pdf", []byte("%\xe2\xe3\xcf\xd3\n1 0 obj"), mismatch},
		{"truncated", "pdf", []byte("%PDF"), mismatch},
	})
}

// TestPDFLimits checks documents at and above each limit.
func TestPDFLimits(t *testing.T) {
	lim := document.InspectLimits{MaxPDFPages: 12, MaxImageHeavySize: 2 << 20, MaxImageHeavyPages: 7, MaxZipEntries: 1}
	const small, large = 1 << 20, 2<<20 + 1
	for _, row := range []struct {
		name        string
		pdf         fakePDF
		size        int64
		want        string
		heavyCalled bool
	}{
		{"one page", fakePDF{pages: 1}, small, "", false},
		{"no page", fakePDF{pages: 0}, small, document.ReasonPDFUnreadable, false},
		{"password", fakePDF{openErr: fmt.Errorf("load: %w", pdf.ErrPassword)}, large, document.ReasonPDFPassword, false},
		{"unreadable", fakePDF{openErr: fmt.Errorf("load: %w", pdf.ErrUnreadable)}, small, document.ReasonPDFUnreadable, false},
		{"pages at the limit, text", fakePDF{pages: 12}, small, "", true},
		{"pages over the limit", fakePDF{pages: 13, heavy: true}, large, "PDF exceeds 12 page limit", false},
		{"scan at both limits", fakePDF{pages: 7, heavy: true}, 2 << 20, "", false},
		{"scan over the pages", fakePDF{pages: 8, heavy: true}, 2 << 20, "Image-heavy PDF exceeds 7 page limit", true},
		{"scan over the size", fakePDF{pages: 7, heavy: true}, large, "Image-heavy PDF exceeds 2 MB limit", true},
		{"scan over both", fakePDF{pages: 8, heavy: true}, large, "Image-heavy PDF exceeds 2 MB limit", true},
		{"text over both", fakePDF{pages: 8}, large, "", true},
		{"pages can't be examined", fakePDF{pages: 8, heavyErr: pdf.ErrUnreadable}, large, "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			doc := io.NewSectionReader(bytes.NewReader(append([]byte("%PDF-1.7\n"), make([]byte, row.size)...)), 0, row.size)
			report, err := document.Inspect(t.Context(), doc, row.size, "pdf", &row.pdf, lim)
			if err != nil {
				t.Fatalf("document.Inspect: %v", err)
			}
			if report.Rejection != row.want {
				t.Errorf("rejection %q, want %q", report.Rejection, row.want)
			}
			if row.pdf.heavyCalled != row.heavyCalled {
				t.Errorf("ImageHeavy called: %v, want %v", row.pdf.heavyCalled, row.heavyCalled)
			}
			if got := report.Pages != nil; got != (row.pdf.pages > 0) || got && *report.Pages != row.pdf.pages {
				t.Errorf("pages %v, want %d", report.Pages, row.pdf.pages)
			}
			if row.pdf.opened != 0 {
				t.Errorf("%d documents are open, want 0", row.pdf.opened)
			}
		})
	}
}

// TestEngineFault checks that Inspect returns an error, not a report, if the engine is broken.
func TestEngineFault(t *testing.T) {
	broken := errors.New("wasm trap")
	doc := []byte("%PDF-1.7\n")
	for name, engine := range map[string]*fakePDF{
		"open":  {openErr: broken},
		"scans": {pages: 400, heavyErr: broken},
	} {
		if _, err := document.Inspect(t.Context(), bytes.NewReader(doc), int64(len(doc)), "pdf", engine,
			document.DefaultInspectLimits()); !errors.Is(err, broken) {
			t.Errorf("%s: error %v, want %v", name, err, broken)
		}
		if engine.opened != 0 {
			t.Errorf("%s: %d documents are open, want 0", name, engine.opened)
		}
	}
}

// TestEngineStopped checks that the document is closed even if the context has ended.
func TestEngineStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	doc := []byte("%PDF-1.7\n")
	engine := &fakePDF{pages: 400, heavyErr: context.Canceled, stop: cancel}
	_, err := document.Inspect(ctx, bytes.NewReader(doc), int64(len(doc)), "pdf", engine, document.DefaultInspectLimits())
	if !errors.Is(err, context.Canceled) || engine.opened != 0 {
		t.Errorf("error %v, %d documents not closed, want %v, 0", err, engine.opened, context.Canceled)
	}
}
