package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"runtime"
	"runtime/debug"
	"slices"
	"unicode"
	"unicode/utf8"

	"deedkeep/app/document"
)

type hello struct {
	Build string `json:"build"`
}

type setup struct {
	CacheDir    string `json:"cache_dir"`
	MemoryLimit int64  `json:"memory_limit"`
	Engine      bool   `json:"engine"` // load PDFium before the sandbox closes
}

// workerReady says that the sandbox is closed, and what it lacks.
type workerReady struct {
	Gaps []MissingProtection `json:"gaps"`
}

// Tasks.
const (
	taskInspect = "inspect" // a document.Report
	taskPicture = "picture" // a Picture of one page
	taskText    = "text"    // the text, page by page
	taskSizes   = "sizes"   // the size of each page
	taskMarks   = "marks"   // where a phrase stands on one page
)

type task struct {
	Task    string                 `json:"task"`
	Size    int64                  `json:"size"`
	MIME    string                 `json:"mime,omitempty"`
	Ext     string                 `json:"ext"`
	Limits  document.InspectLimits `json:"limits"`
	Extract document.ExtractLimits `json:"extract"`
	Page    int                    `json:"page,omitempty"`  // from 1
	Width   int                    `json:"width,omitempty"` // in pixels
	Phrase  string                 `json:"phrase,omitempty"`
}

// imageHeader is the head of a picture, of which Size bytes follow in pieces.
type imageHeader struct {
	MIME   string `json:"mime"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Size   int    `json:"size"`
}

// taskDone is a verdict, or the end of what came before it; Retire says that the
// child wants no further document.
type taskDone struct {
	MIME    string `json:"mime"`
	Pages   *int   `json:"pages"`
	Refusal string `json:"refusal"`
	Retire  bool   `json:"retire"`
}

// taskError is no verdict; Text is for the log. Kind says what it is about the
// document; empty, it is trouble of the child's own.
type taskError struct {
	Kind   string `json:"kind,omitempty"`
	Text   string `json:"text"`
	Retire bool   `json:"retire"`
}

// decode reads a message of the other side.
func decode(content []byte, message any) error {
	if err := json.Unmarshal(content, message); err != nil {
		return protocolError("%v", err)
	}
	return nil
}

const maxMessageText = 512

// check refuses what no child of ours says: the texts go to people and logs.
func (d taskDone) check() error {
	if d.Pages != nil && *d.Pages < 0 {
		return protocolError("%d pages", *d.Pages)
	}
	if !isPrintable(d.MIME) || !isPrintable(d.Refusal) {
		return protocolError("text that is not plain")
	}
	return nil
}

func (f taskError) check() error {
	if f.Kind != "" && docErrorByName(f.Kind) == nil {
		return protocolError("fault of kind %q", f.Kind)
	}
	if f.Text == "" || !isPrintable(f.Text) {
		return protocolError("text that is not plain")
	}
	return nil
}

func (r workerReady) check() error {
	if len(r.Gaps) > maxMissing {
		return protocolError("%d gaps", len(r.Gaps))
	}
	for _, g := range r.Gaps {
		if !slices.Contains(Protections, g.Protection) || !isPrintable(g.Reason) {
			return protocolError("gap %q", g.Protection)
		}
	}
	return nil
}

func isPrintable(s string) bool {
	if len(s) > maxMessageText || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// printable makes any text one that plain lets through.
func printable(s string) string {
	var kept []rune
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			r = ' '
		}
		kept = append(kept, r)
	}
	s = string(kept)
	for len(s) > maxMessageText {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}

// buildID tells this build from others by what the linker wrote into it:
// versions, settings, revision. Two builds of one modified work tree look alike.
func buildID() string {
	sum := sha256.New()
	sum.Write([]byte(runtime.Version() + runtime.GOOS + runtime.GOARCH))
	if info, ok := debug.ReadBuildInfo(); ok {
		sum.Write([]byte(info.String()))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
