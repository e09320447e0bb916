package sandbox

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/config"
	"deedkeep/web"
)

// FakeArg is the argument that makes the test binary a misbehaving worker.
const FakeArg = "fake-worker"

// systemFakes holds additional fake workers for this operating system.
var systemFakes = map[string]func(extra string) int{}

// Fake runs the fake worker named by the argument after FakeArg and returns its exit code.
func Fake(args []string) int {
	mode, extra, _ := strings.Cut(args[2], "=")
	if fake, special := systemFakes[mode]; special {
		return fake(extra)
	}
	switch mode {
	case "dies":
		return 3
	case "is killed early":
		misbehave("is killed", "", nil)
	case "without assets":
		missing := func() ([]byte, error) { return nil, web.ErrAssetsMissing }
		must(serve(context.Background(), os.Stdin, os.Stdout, Assets{PDFium: missing, Tesseract: missing}))
		return 0
	case "confined":
		must(limitSelf(64 << 20))
		var blocks [][]byte // never touched, so it doesn't become resident
		for range 64 {
			blocks = append(blocks, make([]byte, 16<<20))
		}
		must(os.WriteFile(extra, blocks[0][:1], 0o600))
		return 0
	case "small engine":
		// The smallest valid WebAssembly module. It compiles but can't open documents.
		small := func() ([]byte, error) { return []byte("\x00asm\x01\x00\x00\x00"), nil }
		must(serve(context.Background(), os.Stdin, os.Stdout, Assets{PDFium: small}))
		return 0
	case "silent":
		spin()
	case "other build":
		must(writeMessage(os.Stdout, frameHello, hello{"another"}))
		spin()
	case "swells before it is ready":
		must(writeMessage(os.Stdout, frameHello, hello{buildID()}))
		swell()
	case "wrong first word":
		must(writeFrame(os.Stdout, frameRead, nil))
		spin()
	}
	must(writeMessage(os.Stdout, frameHello, hello{buildID()}))
	r := bufio.NewReader(os.Stdin)
	var buf []byte
	for _, want := range []byte{frameSetup, frameTask} {
		if kind, _, err := readFrame(r, &buf); err != nil || kind != want {
			return 4
		}
		if want != frameSetup {
			continue
		}
		first, known := unready[mode]
		if !known {
			first = sealMessage(frameReady, workerReady{})
		}
		if _, err := os.Stdout.WriteString(first); err != nil {
			return 4
		}
	}
	if first, once := strings.CutSuffix(mode, " once"); once {
		mode = "responds"
		if _, err := os.Stat(extra); err != nil {
			must(os.WriteFile(extra, nil, 0o600))
			mode = first
		}
	}
	misbehave(mode, extra, r)
	return 0
}

// unready holds frames that a fake worker sends instead of ready.
var unready = map[string]string{
	"verdict instead of ready":  frame(frameDone, "{}"),
	"ready of no JSON":          frame(frameReady, "{"),
	"unknown protection":        sealMessage(frameReady, workerReady{Gaps: []MissingProtection{{"x", "y"}}}),
	"protection with an escape": sealMessage(frameReady, workerReady{Gaps: []MissingProtection{{ProtectionSeccomp, "\x1b[2J"}}}),
	"language with an escape":   sealMessage(frameReady, workerReady{Languages: []BadLanguage{{"deu", "\x1b[2J"}}}),
	"many languages":            sealMessage(frameReady, workerReady{Languages: slices.Repeat([]BadLanguage{{"deu", "x"}}, config.MaxLanguages+1)}),
	"many protections": sealMessage(frameReady,
		workerReady{Gaps: slices.Repeat([]MissingProtection{{ProtectionSeccomp, "x"}}, maxMissing+1)}),
}

func sealMessage(kind byte, message any) string {
	var b bytes.Buffer
	must(writeMessage(&b, kind, message))
	return b.String()
}

// badFrames holds protocol violations that a fake worker sends instead of a report.
var badFrames = map[string]string{
	"endless frame":        "\xff\xff\xff\xffd",
	"empty frame":          "\x00\x00\x00\x00d",
	"unknown frame":        "\x00\x00\x00\x01?",
	"frame of the parent":  frame(frameData, "x"),
	"no JSON":              frame(frameDone, "{"),
	"control characters":   frame(frameDone, `{"rejection":"a\u001b[2Jb"}`),
	"negative pages":       frame(frameDone, `{"pages":-1}`),
	"fault without a word": frame(frameError, `{}`),
	"ask beyond the end":   frame(frameRead, string(encodeRead(byteRange{1 << 40, 1}))),
	"ask over the end":     frame(frameRead, string(encodeRead(byteRange{0, 100}))),
	"ask before the start": frame(frameRead, string(encodeRead(byteRange{-1, 1}))),
	"ask for nothing":      frame(frameRead, string(encodeRead(byteRange{0, 0}))),
	"ask of no length":     frame(frameRead, "123"),
	"ask of many parts":    frame(frameRead, string(encodeRead(slices.Repeat([]byteRange{{0, 1}}, maxRanges+1)...))),
	"good and bad part":    frame(frameRead, string(encodeRead(byteRange{0, 1}, byteRange{9, 2}))),
	"fault of no kind":     frame(frameError, `{"kind":"x","text":"x"}`),
	"two verdicts":         frame(frameDone, `{"mime":"a/b"}`) + frame(frameDone, `{"mime":"c/d"}`),
	"finding, no verdict":  frame(frameError, `{"kind":"damaged","text":"x"}`),
	"slanted page":         frame(frameDone, `{"rotation":45}`),
	"picture unasked for":  frame(frameImage, `{"mime":"image/png","width":1,"height":1,"size":1}`),
	"text unasked for":     page(1, "x"),
	"ask for too much":     frame(frameRead, string(encodeRead(byteRange{0, 1 << 31}))),
}

// badPictures and badTexts hold protocol violations that a fake worker sends instead of the
// requested result.
var (
	badPictures = map[string]string{
		"verdict":              frame(frameDone, `{"mime":"image/png"}`),
		"text":                 page(1, "x"),
		"piece before head":    frame(frameImageChunk, "x"),
		"two heads":            head(`"image/png"`, 10, 10, 100) + head(`"image/png"`, 10, 10, 100),
		"no pixels":            head(`"image/png"`, 0, 10, 100),
		"wider than requested": head(`"image/png"`, 101, 10, 100),
		"endless height":       head(`"image/png"`, 10, maxImageSide+1, 100),
		"endless size":         head(`"image/png"`, 10, 10, maxImageBytes+1),
		"negative size":        head(`"image/png"`, 10, 10, -1),
		"head of no JSON":      frame(frameImage, "x"),
		"empty piece":          head(`"image/png"`, 10, 10, 100) + frame(frameImageChunk, ""),
		"too many pieces":      head(`"image/png"`, 10, 10, 100) + frame(frameImageChunk, strings.Repeat("x", 101)),
		"too few pieces":       head(`"image/png"`, 10, 10, 100) + frame(frameImageChunk, png(10, 10)) + frame(frameDone, "{}"),
		"web page": head(`"text/html"`, 10, 10, 100) + frame(frameImageChunk, png(10, 10)+strings.Repeat("x", 76)) +
			frame(frameDone, "{}"),
		"no PNG":        head(`"image/png"`, 10, 10, 100) + frame(frameImageChunk, "<html>"+strings.Repeat("x", 94)) + frame(frameDone, "{}"),
		"no JPEG":       head(`"image/jpeg"`, 10, 10, 24) + frame(frameImageChunk, png(10, 10)) + frame(frameDone, "{}"),
		"another width": head(`"image/png"`, 10, 10, 24) + frame(frameImageChunk, png(11, 10)) + frame(frameDone, "{}"),
	}
	badTexts = map[string]string{
		"picture":         head(`"image/png"`, 10, 10, 100),
		"no page":         frame(frameText, "123"),
		"page again":      page(1, "x") + page(1, "x"),
		"page before":     page(2, "x") + page(1, "x"),
		"too many pages":  page(11, "x"),
		"page from afar":  page(1<<31, "x"),
		"too long a page": page(1, strings.Repeat("x", 101)),
		"too much in all": page(1, strings.Repeat("x", 100)) + page(2, strings.Repeat("x", 100)) + page(3, "x"),
		"no UTF-8":        page(1, "\xff"),
		"escape":          page(1, "a\x1b[2J"),
		"NUL":             page(1, "a\x00"),
		"C1 control":      page(1, "a\u009b"),
	}
)

// BadPictures and BadTexts return the names of the fake workers whose results violate the protocol.
// The limits are 10 pages, 100 bytes per page, and 200 bytes in total.
func BadPictures() []string { return slices.Sorted(maps.Keys(badPictures)) }
func BadTexts() []string    { return slices.Sorted(maps.Keys(badTexts)) }

func page(n uint32, text string) string {
	return frame(frameText, string(binary.BigEndian.AppendUint32(nil, n))+text)
}

func head(mime string, width, height, size int) string {
	return frame(frameImage, fmt.Sprintf(`{"mime":%s,"width":%d,"height":%d,"size":%d}`, mime, width, height, size))
}

// png returns the start of a PNG file, up to the last byte that the parent checks.
func png(width, height uint32) string {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	return string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, width), height))
}

// BadFrames returns the names of the fake workers whose frames violate the protocol.
func BadFrames() []string { return slices.Sorted(maps.Keys(badFrames)) }

func frame(kind byte, content string) string {
	return string(putHeader(append(make([]byte, headerSize), content...), kind))
}

func misbehave(mode, extra string, r *bufio.Reader) {
	var bad string
	for _, table := range []map[string]string{badFrames, badPictures, badTexts} {
		bad = cmp.Or(bad, table[mode])
	}
	if bad != "" {
		_, err := os.Stdout.WriteString(bad)
		must(err)
		waitForEnd(r)
		return
	}
	switch mode {
	case "crashes":
		os.Exit(5)
	case "is killed":
		self, err := os.FindProcess(os.Getpid())
		must(err)
		must(self.Kill())
		spin()
	case "is killed, then crashes":
		if _, err := os.Stat(extra); err != nil {
			must(os.WriteFile(extra, nil, 0o600))
			misbehave("is killed", "", r)
		}
		os.Exit(5)
	case "spins":
		spin()
	case "writes its ID and spins":
		must(os.WriteFile(extra+".new", []byte(strconv.Itoa(os.Getpid())), 0o600))
		must(os.Rename(extra+".new", extra))
		spin()
	case "responds and exits":
		must(writeMessage(os.Stdout, frameDone, taskDone{MIME: "x/y"}))
		os.Exit(0)
	case "responds":
		pages := 7
		must(writeMessage(os.Stdout, frameDone, taskDone{MIME: "x/y", Pages: &pages}))
		waitForEnd(r)
	case "swells":
		swell()
	case "sends":
		send(extra)
		waitForEnd(r)
	case "completes one task, then spins":
		send("done")
		_, _, err := readFrame(r, new([]byte))
		must(err)
		spin()
	case "sends a little, then":
		first, file, _ := strings.Cut(extra, "@")
		if _, err := os.Stat(file); err != nil {
			must(os.WriteFile(file, nil, 0o600))
			send("page page")
			if first == "spins" {
				spin()
			}
			os.Exit(5)
		}
		send("page page page retire") // asks to be replaced
		waitForEnd(r)
	case "never reads":
		for {
			must(writeFrame(os.Stdout, frameRead, encodeRead(byteRange{0, 10})))
		}
	case "reads endlessly":
		var buf []byte
		for {
			must(writeFrame(os.Stdout, frameRead, encodeRead(byteRange{0, 1})))
			if _, _, err := readFrame(r, &buf); err != nil {
				os.Exit(6)
			}
		}
	}
}

// send writes the frames with the given names, separated by spaces.
func send(words string) {
	pages := uint32(0)
	for word := range strings.FieldsSeq(words) {
		var s string
		switch word {
		case "picture":
			data := png(80, 100) + strings.Repeat("x", 2*imageChunkSize)
			s = head(`"image/png"`, 80, 100, len(data))
			for piece := range slices.Chunk([]byte(data), imageChunkSize) {
				s += frame(frameImageChunk, string(piece))
			}
		case "page":
			pages++
			s = page(pages, fmt.Sprintf("text of page %d\n", pages))
		case "done":
			s = frame(frameDone, "{}")
		case "retire":
			s = frame(frameDone, `{"retire":true}`)
		case "crash":
			os.Exit(5)
		case "spin":
			spin()
		default:
			s = frame(frameError, fmt.Sprintf(`{"kind":%q,"text":"x"}`, strings.ReplaceAll(word, "_", " ")))
		}
		_, err := os.Stdout.WriteString(s)
		must(err)
	}
}

// swell allocates and touches more and more memory, 1 MiB at a time.
func swell() {
	var blocks [][]byte
	for range 1 << 20 {
		blocks = append(blocks, bytes.Repeat([]byte{1}, 1<<20))
	}
	must(os.WriteFile(os.DevNull, blocks[0], 0o600))
}

// spin loops forever without function calls, as a document engine may.
func spin() {
	for n := uint(0); ; n++ {
		_ = n
	}
}

func waitForEnd(r io.Reader) {
	_, err := io.Copy(io.Discard, r)
	must(err)
}

func must(err error) {
	if err != nil {
		os.Exit(7)
	}
}

// WithSetupMemory returns o with a different memory limit for workers that are not ready yet.
func (o Options) WithSetupMemory(limit int64) Options {
	o.setupMemory = limit
	return o
}

// WithHelloTimeout returns o with a different timeout for a worker's first frame.
func (o Options) WithHelloTimeout(d time.Duration) Options {
	o.helloTimeout = d
	return o
}
