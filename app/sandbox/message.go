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

	"deedkeep/app/config"
	"deedkeep/app/document"
	"deedkeep/app/runsheet"
)

type hello struct {
	Build string `json:"build"`
}

type setup struct {
	Name        string  `json:"name"`
	CacheDir    string  `json:"cache_dir"`
	MemoryLimit int64   `json:"memory_limit"`
	Load        engines `json:"load"` // engines to load before applying the protections
	OCR         OCR     `json:"ocr"`
	LowPriority bool    `json:"low_priority"`
}

// workerReady reports that the protections are in place. It lists the missing ones, and the
// languages that the worker can't read.
type workerReady struct {
	Gaps      []MissingProtection `json:"gaps"`
	Languages []BadLanguage       `json:"languages,omitempty"`
}

// Values of task.Task. The comments describe the result.
const (
	taskInspect    = "inspect"    // a document.Report
	taskImage      = "image"      // an image of one page
	taskText       = "text"       // the text of each page
	taskSizes      = "sizes"      // the size of each page
	taskMarks      = "marks"      // the rectangles of a phrase on one page
	taskRunsheet   = "runsheet"   // the rows of a runsheet
	taskWords      = "words"      // the words of one page, and their boxes
	taskOCR        = "ocr"        // the same, read from the image of the page
	taskSearchable = "searchable" // a PDF with the words of the pages
	taskAssemble   = "assemble"   // a PDF with pages of several documents
)

type task struct {
	Task     string                 `json:"task"`
	Size     int64                  `json:"size"`
	MIME     string                 `json:"mime,omitempty"`
	Ext      string                 `json:"ext"`
	Limits   document.InspectLimits `json:"limits"`
	Extract  document.ExtractLimits `json:"extract"`
	Runsheet runsheet.Limits        `json:"runsheet"`
	Page     int                    `json:"page,omitempty"`  // starts at 1
	Width    int                    `json:"width,omitempty"` // in pixels
	Phrase   string                 `json:"phrase,omitempty"`
	Words    bool                   `json:"words,omitempty"`    // find the words of the phrase in any order
	Appended int64                  `json:"appended,omitempty"` // size of the data after the document, which Size includes
	Parts    []taskPart             `json:"parts,omitempty"`    // the document is these documents, one after another
}

// imageHeader precedes an image. The image's bytes follow in chunks. Size is their total number.
type imageHeader struct {
	MIME   string `json:"mime"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Size   int    `json:"size"`
}

// taskDone is the report of an inspection, or the end of the result of another task. If Retire is
// true, the worker asks the parent to replace it.
type taskDone struct {
	MIME      string `json:"mime"`
	Pages     *int   `json:"pages"`
	Rejection string `json:"rejection"`
	Rotation  int    `json:"rotation,omitempty"` // of a page, as in ocr.Page
	Retire    bool   `json:"retire"`
}

// taskError reports that the task failed. Kind names a document error. It is empty if the worker
// itself failed. Text is for the log.
type taskError struct {
	Kind   string `json:"kind,omitempty"`
	Text   string `json:"text"`
	Retire bool   `json:"retire"`
}

// decode decodes a JSON message from the other side and checks it if it has a method check.
func decode(content []byte, message any) error {
	if err := json.Unmarshal(content, message); err != nil {
		return protocolError("%v", err)
	}
	if m, ok := message.(interface{ check() error }); ok {
		return m.check()
	}
	return nil
}

const maxMessageText = 512

// check returns an error for messages that a correct worker never sends. The checked texts are
// displayed and logged.
func (d taskDone) check() error {
	if d.Pages != nil && *d.Pages < 0 {
		return protocolError("invalid page count %d", *d.Pages)
	}
	if d.Rotation%90 != 0 || d.Rotation < 0 || d.Rotation > 270 {
		return protocolError("invalid rotation %d", d.Rotation)
	}
	if !isPrintable(d.MIME) || !isPrintable(d.Rejection) {
		return protocolError("text is empty or unprintable")
	}
	return nil
}

func (t taskError) check() error {
	if t.Kind != "" && docErrorByName(t.Kind) == nil {
		return protocolError("fault type %q", t.Kind)
	}
	if t.Text == "" || !isPrintable(t.Text) {
		return protocolError("text is empty or unprintable")
	}
	return nil
}

func (r workerReady) check() error {
	if len(r.Gaps) > maxMissing {
		return protocolError("too many missing protections: %d", len(r.Gaps))
	}
	for _, g := range r.Gaps {
		if !slices.Contains(Protections, g.Protection) || !isPrintable(g.Reason) {
			return protocolError("invalid missing protection %q", g.Protection)
		}
	}
	if len(r.Languages) > config.MaxLanguages {
		return protocolError("too many languages: %d", len(r.Languages))
	}
	for _, l := range r.Languages {
		if !isPrintable(l.Name) || !isPrintable(l.Reason) {
			return protocolError("invalid language %q", l.Name)
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

// printable replaces unprintable characters with spaces and shortens s so that isPrintable accepts
// it.
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

// buildID returns a hash of everything the linker recorded about this build: versions, settings,
// and revision. Two builds of the same modified working tree have the same ID.
func buildID() string {
	sum := sha256.New()
	sum.Write([]byte(runtime.Version() + runtime.GOOS + runtime.GOARCH))
	if info, ok := debug.ReadBuildInfo(); ok {
		sum.Write([]byte(info.String()))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
