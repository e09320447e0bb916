package extract

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// calibrationFile says how often a field is right, by its kind, by the lowest confidence that OCR has in one of its words,
// and by whether the page has the same words again. It was fitted to scans of forms that the rules were not written for:
//
//	go test ./app/extract -run TestCalibration -fit
//
//go:embed calibration.json
var calibrationFile []byte

// step is a part of a calibration: from a confidence of OCR on, this percentage of the fields is right.
type step struct{ From, Percent int }

var calibration = sync.OnceValue(func() (steps map[string][]step) {
	if err := json.Unmarshal(calibrationFile, &steps); err != nil {
		panic(fmt.Sprintf("extract: calibration.json: %v", err)) // the tests parse it
	}
	return steps
})

// kindsOfFields are the fields that are calibrated together.
var kindsOfFields = map[string]string{
	Type: "type", BookType: "type", InstrumentNumber: "number", Book: "number", PageNumber: "number", PageTo: "number", CaseNumber: "number",
	Recorded: "date", RecordedTime: "date", Dated: "date", Grantors: "name", Grantees: "name", Trustee: "name", Nominee: "name",
	Consideration: "amount", ConsiderationText: "amount", Parcels: "parcel", Subdivision: "land", Lot: "land", Block: "land",
	County: "place", State: "place",
}

// MinConfidence is the percentage below which a field is doubtful.
const MinConfidence = 80

// calibrate replaces the confidence that OCR has in the words of the fields by how often such fields are right.
func (r *reader) calibrate() {
	for name, f := range r.fields {
		if f.Confidence == nil {
			continue
		}
		percent := 0
		steps, found := calibration()[f.calibrationKey(name)]
		if !found {
			steps = calibration()[kindsOfFields[name]]
		}
		for _, s := range steps {
			if f.lowest >= s.From {
				percent = s.Percent
			}
		}
		f.Confidence, f.Doubtful = &percent, f.Doubtful || percent < MinConfidence || f.lowest < minSureConfidence
		r.fields[name] = f
	}
}

// calibrationKey returns the key of the steps for a field.
func (f Field) calibrationKey(name string) string {
	if f.repeated {
		return kindsOfFields[name] + " again"
	}
	return kindsOfFields[name]
}

// isRepeated reports whether the words between two offsets in original occur again.
func (s *source) isRepeated(from, to int) bool {
	const minWords = 4 // characters
	words := strings.ToUpper(strings.TrimSpace(s.original[from:to]))
	return len(words) >= minWords && strings.Count(strings.ToUpper(s.original), words) > 1
}
