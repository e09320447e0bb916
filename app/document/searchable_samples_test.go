//go:build !race

package document_test

import (
	"bytes"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"math"
	"path"
	"regexp"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/ocr"
	"deedkeep/app/pdf"
	"deedkeep/app/vaulttest"
)

// pageWords returns two words for each page. The second one isn't in any font of a PDF reader.
func pageWords(int) (ocr.Page, error) {
	return ocr.Page{Words: []ocr.Word{
		{Text: "Willoughby", Box: ocr.Box{Left: 1000, Top: 2000, Right: 4000, Bottom: 2400}},
		{Text: "Łódź-契約", Box: ocr.Box{Left: 4000, Top: 7000, Right: 9000, Bottom: 7300}},
	}}, nil
}

// searchable returns the searchable PDF of a document.
func searchable(t *testing.T, src document.Source, words document.PageWords) ([]byte, error) {
	t.Helper()
	var out bytes.Buffer
	err := document.Searchable(t.Context(), src, words, &out, document.ExtractLimits{MaxPixels: 200_000_000})
	return out.Bytes(), err
}

// The pages of a searchable PDF look like those of the document, and its words are found where they
// are on the page.
func TestSampleSearchable(t *testing.T) {
	e := engine(t)
	for _, s := range vaulttest.Samples(t) {
		if !s.Accept || s.MIME != "application/pdf" && !strings.HasPrefix(s.MIME, "image/") {
			continue
		}
		t.Run(path.Base(s.Path), func(t *testing.T) {
			src := source(t, e, s)
			_, err := document.PageImage(t.Context(), src, 1, 300, document.ExtractLimits{})
			got, searchableErr := searchable(t, src, pageWords)
			if err != nil {
				return // the page is beyond the limits, so OCR found no words
			}
			if searchableErr != nil {
				t.Fatalf("Searchable: %v", searchableErr)
			}
			copied := document.Source{Doc: bytes.NewReader(got), Size: int64(len(got)), MIME: "application/pdf", PDF: e}
			comparePages(t, src, copied)
			checkWords(t, copied, 1, pageWords)
			original, err := io.ReadAll(io.NewSectionReader(src.Doc, 0, src.Size))
			if err != nil {
				t.Fatalf("read document: %v", err)
			}
			if bytes.Contains(original, []byte("/Encrypt")) {
				return // the copy isn't encrypted, so the bytes of its streams differ
			}
			for _, stream := range imageStreams(original) {
				if !bytes.Contains(got, stream) {
					t.Errorf("an image of %d bytes is missing or was changed", len(stream))
				}
			}
			if s.MIME == "image/jpeg" && !bytes.Contains(got, original) {
				t.Error("the JPEG was changed")
			}
		})
	}
}

// imageStreams returns the encoded images in a PDF.
func imageStreams(content []byte) (streams [][]byte) {
	for _, at := range imageDictionary.FindAllIndex(content, -1) {
		stream, _, _ := bytes.Cut(content[at[1]:], []byte("endstream"))
		streams = append(streams, bytes.TrimRight(stream, "\r\n"))
	}
	return streams
}

var imageDictionary = regexp.MustCompile(`/Subtype ?/Image\b[^>]*(?:>[^>]+)*>>\s*stream\r?\n`)

// comparePages compares the sizes of all pages, and the image of the first page.
func comparePages(t *testing.T, want, got document.Source) {
	t.Helper()
	var sizes [2][]document.PageSize
	var images [2]document.Image
	for i, src := range []document.Source{want, got} {
		var err error
		if sizes[i], err = document.PageSizes(t.Context(), src, document.ExtractLimits{}); err != nil {
			t.Fatalf("PageSizes: %v", err)
		}
		if images[i], err = document.PageImage(t.Context(), src, 1, 300, document.ExtractLimits{}); err != nil {
			t.Fatalf("PageImage: %v", err)
		}
	}
	if len(sizes[0]) != len(sizes[1]) {
		t.Fatalf("%d pages, want %d", len(sizes[1]), len(sizes[0]))
	}
	for i, size := range sizes[0] {
		if ratio := size.Width / size.Height * sizes[1][i].Height / sizes[1][i].Width; math.Abs(ratio-1) > 0.01 {
			t.Errorf("page %d is %v, want %v", i+1, sizes[1][i], size)
		}
	}
	if difference := meanDifference(t, images[0], images[1]); difference > 6 {
		t.Errorf("the image of page 1 differs by %.1f of 255", difference)
	}
}

// meanDifference divides two images, whose sizes may differ, into 20 x 20 parts and returns the mean
// difference of the brightness of the parts.
func meanDifference(t *testing.T, a, b document.Image) float64 {
	t.Helper()
	const parts = 20
	x, y := gray(t, a), gray(t, b)
	sum := 0.0
	for v := range parts {
		for u := range parts {
			mean := func(rows [][]byte) float64 {
				total, n := 0.0, 0
				for _, row := range rows[v*len(rows)/parts : max((v+1)*len(rows)/parts, v*len(rows)/parts+1)] {
					for _, p := range row[u*len(row)/parts : max((u+1)*len(row)/parts, u*len(row)/parts+1)] {
						total, n = total+float64(p), n+1
					}
				}
				return total / float64(n)
			}
			sum += math.Abs(mean(x) - mean(y))
		}
	}
	return sum / (parts * parts)
}

// gray returns the brightness of the pixels of an image.
func gray(t *testing.T, img document.Image) (rows [][]byte) {
	t.Helper()
	decoded, _, err := image.Decode(bytes.NewReader(img.Bytes))
	if err != nil {
		t.Fatalf("decode page image: %v", err)
	}
	b := decoded.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		var row []byte
		for x := b.Min.X; x < b.Max.X; x++ {
			row = append(row, color.GrayModel.Convert(decoded.At(x, y)).(color.Gray).Y)
		}
		rows = append(rows, row)
	}
	return rows
}

// checkWords checks that the words of a page are found in their boxes.
func checkWords(t *testing.T, src document.Source, page int, words document.PageWords) {
	t.Helper()
	want, err := words(page)
	if err != nil {
		t.Fatalf("words: %v", err)
	}
	for _, word := range want.Words {
		rects, err := document.Highlights(t.Context(), src, page, func(text []rune) []pdf.Span {
			before, _, found := strings.Cut(string(text), word.Text)
			if !found {
				return nil
			}
			start := len([]rune(before))
			return []pdf.Span{{Start: start, End: start + len([]rune(word.Text))}}
		}, document.ExtractLimits{})
		if err != nil || len(rects) != 1 || len(rects[0]) == 0 {
			t.Errorf("page %d: places of %q = %v, %v; want one", page, word.Text, rects, err)
			continue
		}
		got, far := rects[0][0], 0.0
		for _, part := range rects[0] { // one for each font
			got.Left, got.Right = min(got.Left, part.Left), max(got.Right, part.Right)
		}
		for i, side := range []float64{got.Left, got.Top, got.Right, got.Bottom} {
			wanted := []int{word.Box.Left, word.Box.Top, word.Box.Right, word.Box.Bottom}[i]
			far = max(far, math.Abs(side-float64(wanted)/ocr.Scale))
		}
		// The viewer adds the width of the space after the word.
		if space := float64(word.Box.Right-word.Box.Left) / ocr.Scale / float64(len([]rune(word.Text))); far > space+0.01 {
			t.Errorf("page %d: %q is at %+v, want %+v", page, word.Text, got, word.Box)
		}
	}
}
