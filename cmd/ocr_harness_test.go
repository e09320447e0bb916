//go:build harness && linux

// This test repeatedly kills a server while it reads a long scan (OCR). In the end, each page must have its text, and no
// page may have been read more than twice.
//
//	go test -tags harness -run TestOCRKilled -v ./cmd
//
//	DEEDKEEP_TEST_OCR_PAGES   pages of the scan; default 280
//	DEEDKEEP_TEST_OCR_KILLS   number of kills; default 10
package cmd_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest"
)

// logEachPage makes the server log each time that a worker begins to read a page.
var logEachPage = vaulttest.Mutation{
	File:   "app/jobs/ocr_page.go",
	Line:   "return o.reader.ReadPage(ctx, r, page, o.previews.limits)",
	Before: "o.Log.Warn(\"read\", \"file\", file.ID, \"page\", page)\n\t",
	Import: "context",
}

// pageTimeLimit is the maximum time to read a page of the scan on a busy computer.
const pageTimeLimit = time.Minute

func TestOCRKilled(t *testing.T) {
	pages, kills := envNumber(t, "DEEDKEEP_TEST_OCR_PAGES", 280), envNumber(t, "DEEDKEEP_TEST_OCR_KILLS", 10)
	h := newHarness(t, logEachPage)
	h.newVault()
	h.env = []string{"DEEDKEEP_OCR_ENABLED=true", "DEEDKEEP_OCR_WORKERS=2"}
	s := h.start()
	file, reason := s.upload(t, "Scan.pdf", scanOfNames(t, pages))
	if file == nil {
		t.Fatalf("upload: rejected: %s", reason)
	}
	begun := time.Now()
	read := &scanProgress{h: h, file: file.ID, texts: map[int]string{}, reads: map[int]int{}}
	for kill := 1; kill <= kills; kill++ {
		// A page whose reading was interrupted is finished before the next kill.
		read.wait(s, func() bool { return len(read.texts) >= kill*pages/(kills+1) && read.hasText() })
		if read.status != "partial" && read.status != "pending" {
			t.Fatalf("kill %d: got status %s, want pages left to read", kill, read.status)
		}
		time.Sleep(time.Duration(h.rng.IntN(200)) * time.Millisecond)
		s.kill()
		read.count(s)
		s = h.start()
		if kill > 1 {
			continue
		}
		h.waitFound(s, "file", nameOfPage(1))
		if read.load(s); read.status != "partial" {
			t.Errorf("status after a word of the first page was found: got %q, want partial", read.status)
		}
		t.Logf("a name on the first page was found when %d pages had been read", len(read.texts))
	}
	read.wait(s, func() bool { return read.status == "complete" })
	took := time.Since(begun)
	for page := 1; page <= pages; page++ {
		if got, want := strings.Join(strings.Fields(read.texts[page]), " "), "Grantor "+nameOfPage(page); got != want {
			t.Errorf("page %d: got %q, want %q", page, got, want)
		}
	}
	h.waitIndexed(s)
	for page := 1; page <= pages; page++ {
		if got, want := read.search(s, nameOfPage(page)), fmt.Sprintf("%d: %d", file.ID, page); got != want {
			t.Errorf("search for %s: got file and page %q, want %q", nameOfPage(page), got, want)
		}
	}
	if status := h.status(); status.OCRPages != 0 {
		t.Errorf("%d pages wait for OCR, want none", status.OCRPages)
	}
	if report := h.verify(); !report.OK {
		t.Errorf("verify: got %+v, want no findings", report)
	}
	s.stop(t)
	read.count(s)
	twice := 0
	for page := 1; page <= pages; page++ {
		switch n := read.reads[page]; {
		case n == 2:
			twice++
		case n != 1:
			t.Errorf("page %d was read %d times", page, n)
		}
	}
	fmt.Printf("ocr: %d pages read in %.1f s with %d kills; %d of them were read twice, none more often, none missing\n", pages, took.Seconds(), kills, twice)
}

// nameOfPage returns the name on a page. No other page has it.
func nameOfPage(page int) string {
	return vaulttest.MixFirstName(page) + " " + vaulttest.MixLastName(page)
}

// scanOfNames returns a PDF of scanned pages with a name on each.
func scanOfNames(t *testing.T, pages int) []byte {
	t.Helper()
	const width, height = 900, 200
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", ""}
	var kids strings.Builder
	for page := 1; page <= pages; page++ {
		n := len(objects) + 1
		fmt.Fprintf(&kids, "%d 0 R ", n)
		scan := vaulttest.Scan(t, width, height, "Grantor "+nameOfPage(page))
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 216 48] /Contents %d 0 R /Resources << /XObject << /S %d 0 R >> >> >>", n+1, n+2),
			stream("", []byte("216 0 0 48 0 0 cm /S Do")),
			stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8 /ColorSpace /DeviceGray /Filter /FlateDecode",
				width, height), deflated(t, scan.Pix)))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), pages)
	return pdfFile(objects)
}

// scanProgress is what is known about the text of a scan.
type scanProgress struct {
	h      *harness
	file   int64
	status string
	texts  map[int]string // of the pages that were read
	reads  map[int]int    // how often workers have begun to read a page, until the last kill
}

// load gets the text of the scan. Text that was there before must still be there.
func (p *scanProgress) load(s *serverProcess) {
	p.h.t.Helper()
	known := p.texts
	p.texts = map[int]string{}
	last, cursor := 0, ""
	for first := true; first || cursor != ""; first = false {
		var body apitypes.FileText
		query := url.Values{"per_page": {"100"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		path := fmt.Sprintf("/v1/file-vault/files/%d/text?%s", p.file, query.Encode())
		if err := s.client.Do(p.h.t.Context(), http.MethodGet, path, nil, &body); err != nil {
			p.h.t.Fatalf("get text: %v", err)
		}
		for _, page := range body.Data.Pages {
			if last++; int(page.Page) != last {
				p.h.t.Fatalf("got page %d, want page %d", page.Page, last)
			}
			if page.Source == "ocr" {
				p.texts[last] = page.Text
			}
		}
		p.status, cursor = body.Data.Status, ""
		if body.Meta.NextCursor != nil {
			cursor = *body.Meta.NextCursor
		}
	}
	for page, text := range known {
		if p.texts[page] != text {
			p.h.t.Errorf("page %d: got %q, had %q", page, p.texts[page], text)
		}
	}
}

// wait loads the text until done returns true.
func (p *scanProgress) wait(s *serverProcess, done func() bool) {
	p.h.t.Helper()
	for n, changed := -1, time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if p.load(s); done() {
			return
		}
		if len(p.texts) != n {
			n, changed = len(p.texts), time.Now()
		} else if time.Since(changed) > pageTimeLimit {
			p.h.t.Fatalf("%d pages were read, status %s, and no other one in %v", n, p.status, pageTimeLimit)
		}
	}
}

// search returns the document that a search for a phrase finds, and its page.
func (p *scanProgress) search(s *serverProcess, phrase string) string {
	p.h.t.Helper()
	var found struct {
		Data []struct {
			ID   json.Number
			Page *int
		}
	}
	query := url.Values{"q": {`"` + phrase + `"`}, "kind": {"file"}}
	if err := s.client.Do(p.h.t.Context(), http.MethodGet, "/v1/search?"+query.Encode(), nil, &found); err != nil {
		p.h.t.Fatalf("search: %v", err)
	}
	if len(found.Data) != 1 || found.Data[0].Page == nil {
		return fmt.Sprintf("%+v", found.Data)
	}
	return fmt.Sprintf("%s: %d", found.Data[0].ID, *found.Data[0].Page)
}

var readLine = regexp.MustCompile(`msg=read file=(\d+) page=(\d+)`)

// count counts the pages that a server began to read before it exited.
func (p *scanProgress) count(s *serverProcess) {
	for _, match := range readLine.FindAllStringSubmatch(s.stderr.String(), -1) {
		if match[1] == strconv.FormatInt(p.file, 10) {
			page, _ := strconv.Atoi(match[2]) // digits
			p.reads[page]++
		}
	}
}

// hasText reports whether all pages that workers began to read before the last kill have text.
func (p *scanProgress) hasText() bool {
	for page := range p.reads {
		if _, read := p.texts[page]; !read {
			return false
		}
	}
	return true
}
