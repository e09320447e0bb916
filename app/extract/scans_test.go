package extract_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/f64"
	"golang.org/x/image/math/fixed"

	"deedkeep/app/ocr"
	"deedkeep/app/vaulttest"
	"deedkeep/web"
)

// scansFile has what OCR read on generated scans of recorded instruments. -scans creates it.
const scansFile = "testdata/scans.jsonl.gz"

var scans = flag.String("scans", "", "draw scans of all forms, read them with Tesseract, add what was read to this file, and pack "+
	"it into "+scansFile+"; needs the fonts of Debian's fonts-urw-base35 and fonts-dejavu-core")

// The sets of scans. The rules were written for the forms of the first one, the confidence was calibrated on those of the
// second one, and those of the third one only measure the result.
const (
	ruleSet    = "rules"
	fitSet     = "fit"
	heldOutSet = "heldout"
)

// setOf returns the set of a form.
func setOf(form string) string {
	switch filepath.Base(filepath.Dir(form)) {
	case "fit":
		return fitSet
	case "heldout":
		return heldOutSet
	}
	if strings.HasPrefix(filepath.Base(form), "unseen-") {
		return fitSet
	}
	return ruleSet
}

// isNew reports whether a form is one of the newest, every other scan of which is that of a worn copy.
func isNew(form string) bool { return form >= "27" && form < "a" }

// scannedDocument is a generated document as OCR read it, and what it states.
type scannedDocument struct {
	Set, Form string
	Number    uint64
	Look      string              // how it was drawn and degraded
	Pages     [][]scannedLine     // as OCR read them
	Fields    map[string][]string // what the document states
}

type scannedLine struct {
	Text       string
	Confidence []int
}

// readScans returns the stored documents of a set.
func readScans(t testing.TB, set string) (list []scannedDocument) {
	t.Helper()
	file, err := os.Open(scansFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(unpacked); d.More(); {
		var document scannedDocument
		if err := d.Decode(&document); err != nil {
			t.Fatal(err)
		}
		if document.Set == set {
			list = append(list, document)
		}
	}
	return list
}

// TestReadScans creates scansFile. Without the flag -scans, it only checks that the file has all three sets.
func TestReadScans(t *testing.T) {
	if *scans == "" {
		for _, set := range []string{ruleSet, fitSet, heldOutSet} {
			if len(readScans(t, set)) == 0 {
				t.Errorf("%s has no documents of the set %s", scansFile, set)
			}
		}
		return
	}
	done := map[string]bool{}
	if raw, err := os.ReadFile(*scans); err == nil {
		for line := range bytes.Lines(raw) {
			var d scannedDocument
			if json.Unmarshal(line, &d) == nil {
				done[fmt.Sprint(d.Form, d.Number)] = true
			}
		}
	}
	out, err := os.OpenFile(*scans, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(forms, "testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	engine := newEngine(t)
	copies := map[string]int{ruleSet: 1, fitSet: 4, heldOutSet: 4}
	for n := range copies[heldOutSet] {
		for _, name := range names {
			if set := setOf(name); n >= copies[set] || set == ruleSet || done[fmt.Sprint(strings.TrimSuffix(filepath.Base(name), ".txt"), n)] {
				continue
			}
			d := generate(t, name, 27, uint64(n))
			r := rand.New(rand.NewPCG(uint64(n), uint64(len(d.text))))
			look := newLook(r)
			if n%2 == 1 && isNew(d.form) {
				look.wear(r)
			}
			scanned := scannedDocument{Set: setOf(name), Form: d.form, Number: uint64(n), Look: look.String(), Fields: d.fields}
			start := time.Now()
			for _, img := range look.draw(t, r, d.text) {
				page, err := engine.Read(t.Context(), img, look.dpi)
				if err != nil {
					t.Fatal(err)
				}
				scanned.Pages = append(scanned.Pages, linesOf(page))
			}
			raw, err := json.Marshal(scanned)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.Write(append(raw, '\n')); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s %d: %d pages, %s, %v", d.form, n, len(scanned.Pages), look, time.Since(start).Round(time.Second))
		}
	}
	vaulttest.NoError(t, out.Close())
	pack(t)
}

// pack compresses the file of the flag -scans into scansFile.
func pack(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(*scans)
	vaulttest.NoError(t, err)
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	vaulttest.NoError(t, err)
	buffered := bufio.NewWriter(w)
	_, err = buffered.Write(raw)
	vaulttest.NoError(t, err)
	vaulttest.NoError(t, buffered.Flush())
	vaulttest.NoError(t, w.Close())
	vaulttest.NoError(t, os.WriteFile(scansFile, b.Bytes(), 0o600))
}

func newEngine(t *testing.T) *ocr.Engine {
	t.Helper()
	code, err := web.Tesseract()
	vaulttest.NoError(t, err)
	english, err := web.English()
	vaulttest.NoError(t, err)
	engine, err := ocr.New(t.Context(), ocr.Options{Wasm: code, CacheDir: vaulttest.CacheDir(),
		Languages: []ocr.Language{{Name: "eng", Data: english}}})
	vaulttest.NoError(t, err)
	t.Cleanup(func() { vaulttest.NoError(t, engine.Close(context.Background())) })
	return engine
}

// linesOf returns the lines of a page as the vault passes them to extract.Read.
func linesOf(page ocr.Page) (lines []scannedLine) {
	for n, word := range page.Words {
		if n == 0 || word.Line != page.Words[n-1].Line || word.Paragraph != page.Words[n-1].Paragraph {
			lines = append(lines, scannedLine{})
		}
		line := &lines[len(lines)-1]
		line.Text = strings.TrimPrefix(line.Text+" "+word.Text, " ")
		line.Confidence = append(line.Confidence, word.Confidence)
	}
	return lines
}

// look is how a scan looks.
type look struct {
	body, stamp string // fonts
	size        float64
	dpi         float64
	skew        float64 // degrees
	turn        int     // degrees clockwise
	blur        int     // passes
	noise       float64
	ink, paper  int
	threshold   int // 0: gray
}

func (l look) String() string {
	return fmt.Sprintf("%s %.1f pt, %.0f dpi, %.1f° skew, turned by %d°, blur %d, noise %.0f, ink %d on %d, "+
		"threshold %d", l.body, l.size, l.dpi,
		l.skew, l.turn, l.blur, l.noise, l.ink, l.paper, l.threshold)
}

// wear makes the look that of a copy of a copy: faint, blurred, and grainy.
func (l *look) wear(r *rand.Rand) {
	l.ink, l.paper, l.noise, l.blur, l.threshold, l.dpi = 90+r.IntN(50), 215+r.IntN(20), 14+10*r.Float64(), 2, 0, 200
	if r.IntN(2) == 0 {
		l.threshold = l.ink + (l.paper-l.ink)/2 - r.IntN(15)
	}
}

const fontFolder = "/usr/share/fonts"

func newLook(r *rand.Rand) look {
	l := look{
		body: pick(r, []string{"NimbusRoman-Regular.otf", "NimbusRoman-Regular.otf",
			"NimbusMonoPS-Regular.otf", "C059-Roman.otf", "P052-Roman.otf",
			"NimbusSans-Regular.otf", "URWBookman-Light.otf", "DejaVuSerif.ttf"}),
		stamp: pick(r, []string{"NimbusSans-Bold.otf", "DejaVuSansMono.ttf", "DejaVuSans.ttf", "NimbusMonoPS-Bold.otf"}),
		size:  10 + 2.5*r.Float64(), dpi: pick(r, []float64{150, 200, 200, 300, 300}), skew: 1.3 * r.NormFloat64() / 2, blur: r.IntN(3),
		noise: pick(r, []float64{0, 5, 10, 16}), ink: r.IntN(110), paper: 225 + r.IntN(31),
	}
	if r.IntN(2) == 0 {
		l.threshold = min(125+r.IntN(75), l.paper-45)
	}
	if n := r.IntN(20); n < 2 {
		l.turn = 180
	} else if n == 2 {
		l.turn = 90
	}
	if l.dpi == 150 {
		l.blur = min(l.blur, 1)
	}
	return l
}

// face returns a font at the resolution of the scan.
func (l look) face(t *testing.T, name string, size float64) font.Face {
	t.Helper()
	var file string
	err := filepath.WalkDir(fontFolder, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == name {
			file = at
		}
		return err
	})
	vaulttest.NoError(t, err)
	raw, err := os.ReadFile(file)
	vaulttest.NoError(t, err)
	parsed, err := opentype.Parse(raw)
	vaulttest.NoError(t, err)
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: l.dpi})
	vaulttest.NoError(t, err)
	return face
}

// draw returns the pages of a text as a scanner returns them.
func (l look) draw(t *testing.T, r *rand.Rand, text string) (pages []*image.Gray) {
	t.Helper()
	body, stamp := l.face(t, l.body, l.size), l.face(t, l.stamp, l.size*0.9)
	width, height, step := int(8.5*l.dpi), int(11*l.dpi), int(l.size*1.32*l.dpi/72)
	column := int(0.115 * l.size / 12 * l.dpi * 0.8) // of a fixed pitch
	inStamp := true
	var page *image.Gray
	y := height
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if y > height-int(0.8*l.dpi) {
			page = image.NewGray(image.Rect(0, 0, width, height))
			draw.Draw(page, page.Bounds(), image.White, image.Point{}, draw.Src)
			pages = append(pages, page)
			y = int(0.7 * l.dpi)
		}
		y += step
		if line == "" {
			inStamp = inStamp && len(pages) == 1 && y < 3*height/10
			continue
		}
		face := body
		if inStamp {
			face = stamp
		}
		left := int(0.8 * l.dpi)
		for at := 0; at < len(line); { // columns keep their place
			part := line[at:]
			if gap := strings.Index(part, "   "); gap >= 0 {
				part = part[:gap]
			}
			x := left
			if at > 0 {
				x = left + at*column
			}
			(&font.Drawer{Dst: page, Src: image.NewUniform(color.Gray{Y: uint8(l.ink)}), Face: face, Dot: fixed.P(x, y)}).DrawString(part)
			at += len(part)
			at += len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
		}
	}
	for n, page := range pages {
		pages[n] = l.degrade(r, page)
	}
	return pages
}

// degrade returns a page with the defects of a scan.
func (l look) degrade(r *rand.Rand, page *image.Gray) *image.Gray {
	w, h := page.Rect.Dx(), page.Rect.Dy()
	skewed := image.NewGray(page.Rect)
	draw.Draw(skewed, skewed.Rect, image.White, image.Point{}, draw.Src)
	sin, cos := math.Sincos(l.skew * math.Pi / 180)
	cx, cy := float64(w)/2, float64(h)/2
	draw.BiLinear.Transform(skewed, f64.Aff3{cos, -sin, cx - cos*cx + sin*cy, sin, cos, cy - sin*cx - cos*cy}, page, page.Rect, draw.Over, nil)
	for range l.blur {
		skewed = blurred(skewed)
	}
	for n, v := range skewed.Pix {
		level := float64(l.ink) + (float64(v)-float64(l.ink))*float64(l.paper-l.ink)/float64(255-l.ink)
		if l.noise > 0 {
			level += l.noise * r.NormFloat64()
		}
		if l.threshold > 0 && level < float64(l.threshold) {
			level = 0
		} else if l.threshold > 0 {
			level = 255
		}
		skewed.Pix[n] = uint8(min(max(level, 0), 255))
	}
	for range 40 + r.IntN(200) { // specks
		at := r.IntN(len(skewed.Pix) - w - 2)
		for _, n := range []int{at, at + 1, at + w}[:1+r.IntN(3)] {
			skewed.Pix[n] = uint8(r.IntN(120))
		}
	}
	return turned(skewed, l.turn)
}

// blurred returns an image with each pixel mixed with its neighbors.
func blurred(img *image.Gray) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := image.NewGray(img.Rect)
	copy(out.Pix, img.Pix)
	for y := 1; y < h-1; y++ {
		for x := 1; x < w-1; x++ {
			at := y*w + x
			sum := 4*int(img.Pix[at]) + 2*(int(img.Pix[at-1])+int(img.Pix[at+1])+int(img.Pix[at-w])+int(img.Pix[at+w])) +
				int(img.Pix[at-w-1]) + int(img.Pix[at-w+1]) + int(img.Pix[at+w-1]) + int(img.Pix[at+w+1])
			out.Pix[at] = uint8(sum / 16)
		}
	}
	return out
}

// turned returns an image turned by 0, 90, or 180 degrees.
func turned(img *image.Gray, degrees int) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	switch degrees {
	case 180:
		for a, b := 0, len(img.Pix)-1; a < b; a, b = a+1, b-1 {
			img.Pix[a], img.Pix[b] = img.Pix[b], img.Pix[a]
		}
	case 90:
		out := image.NewGray(image.Rect(0, 0, h, w))
		for y := range h {
			for x := range w {
				out.Pix[x*h+h-1-y] = img.Pix[y*w+x]
			}
		}
		return out
	}
	return img
}
