package extract

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"deedkeep/app/model"
)

// Limits on a document with several instruments. Later pages and instruments are not read.
const (
	MaxDocumentPages = 300
	maxInstruments   = 100
)

// Instrument is an instrument of a document: its pages, and the fields that they state.
type Instrument struct {
	First, Last int // pages, from 1
	Confidence  int // how many of 100 such starts are right; 100 for page 1 and for a start that is given
	Fields      Fields
}

// ReadAll returns the instruments of a document. See reason for what starts a new one. The certificates, exhibits, and riders
// of an instrument belong to it. types are the document types of the firm.
func ReadAll(pages []Page, rules *Rules, types model.DocumentTypes, now time.Time) []Instrument {
	pages = pages[:min(len(pages), MaxDocumentPages)]
	return readParts(pages, cutsOf(pages, rules, now), rules, types, now)
}

// ReadParts is like ReadAll for a document whose instruments start on the given pages, in ascending order from 1.
func ReadParts(pages []Page, starts []int, rules *Rules, types model.DocumentTypes, now time.Time) []Instrument {
	cuts := make([]cut, len(starts))
	for n, start := range starts {
		cuts[n].page = start
		if start > 1 {
			cuts[n].line = readPage(pages[start-1], start, len(pages), rules, now).middle
		}
	}
	return readParts(pages, cuts, rules, types, now)
}

// readParts returns the instruments that start at the cuts. The lines above a cut on its page aren't read: they belong to the
// instrument before, which has the pages before.
func readParts(pages []Page, cuts []cut, rules *Rules, types model.DocumentTypes, now time.Time) (list []Instrument) {
	for n, c := range cuts {
		end := len(pages)
		if n+1 < len(cuts) {
			end = cuts[n+1].page - 1
		}
		part := pages[c.page-1 : end]
		if c.line > 0 {
			part = append([]Page{{Lines: part[0].Lines[c.line:]}}, part[1:min(len(part), MaxPages)]...)
		}
		fields := Read(part, rules, types, now)
		for name, field := range fields {
			field.Page += c.page - 1
			fields[name] = field
		}
		list = append(list, Instrument{c.page, end, c.confidence(), fields})
	}
	return list
}

// cut is a place where an instrument starts.
type cut struct {
	page   int
	line   int // of the page, from 0: more than 0 if the end of another instrument is above it
	reason reason
}

// reason says what tells that an instrument starts. It is "" for page 1 and for a start that a person chose.
type reason string

const (
	byStampAndTitle reason = "stamp, title" // a stamp that differs, and a title or the first words of a body
	byStamp         reason = "stamp"
	byCover         reason = "cover"       // a sheet of the office that recorded it
	byTitle         reason = "title"       // a title and the first words of a body, after signatures or another type
	bySecondTitle   reason = "other title" // the same without signatures before
	byBareTitle     reason = "bare title"  // a title alone, after signatures
	byWords         reason = "words"       // words that only start an instrument, after signatures
	byCount         reason = "count"       // the instrument before has as many pages as its stamp says
	inMiddle        reason = "middle"      // a title in the middle of a page, after signatures
)

// cutsOf returns where the instruments of a document start.
func cutsOf(pages []Page, rules *Rules, at time.Time) []cut {
	cuts := []cut{{page: 1}}
	var now pageFacts // of the instrument
	for n, page := range pages {
		facts := readPage(page, n+1, len(pages), rules, at)
		if n > 0 && len(cuts) < maxInstruments {
			if why := now.endsBefore(facts); why != "" {
				c := cut{page: facts.page, reason: why}
				if why == inMiddle {
					c.line = facts.middle
				}
				cuts = append(cuts, c)
				now = facts
				continue
			}
		}
		now.add(facts)
	}
	return cuts
}

// cutsFile says how many of 100 instruments that were found for a reason do start there. It was fitted to generated packets of
// the fit set (scans_test.go) and of generated forms:
//
//	go test ./app/extract -run TestCutConfidence -fit
//
//go:embed cuts.json
var cutsFile []byte

var cutPercents = sync.OnceValue(func() (percents map[reason]int) {
	if err := json.Unmarshal(cutsFile, &percents); err != nil {
		panic(fmt.Sprintf("extract: cuts.json: %v", err)) // the tests parse it
	}
	return percents
})

// confidence returns how many of 100 such cuts are right.
func (c cut) confidence() int {
	if c.reason == "" {
		return 100
	}
	return cutPercents()[c.reason]
}
