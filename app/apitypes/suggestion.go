package apitypes

import "encoding/json"

// Suggestion is an instrument that a row of a runsheet, the text of a document, or its name describes. Nothing is stored.
// Fields is the body of a request that creates the instrument.
type Suggestion struct {
	Row          *int64                     `json:"row"` // row of the file, starting with 1
	Fields       map[string]json.RawMessage `json:"fields"`
	Relations    List[RowRelation]          `json:"relations"`     // to other rows of the file
	InstrumentID *int64                     `json:"instrument_id"` // instrument of the abstract that is recorded in the same place
	Evidence     map[string]Evidence        `json:"evidence"`      // by field; empty for rows of a file
	Pages        *string                    `json:"pages"`         // of the document; nil: all, or a row of a file
	Boundary     *Boundary                  `json:"boundary"`      // where it starts; nil if the document has one instrument
}

// Boundary says how sure it is that an instrument starts on the first of its pages.
type Boundary struct {
	Confidence int64 `json:"confidence"`
}

// RowRelation is a relation to the instrument in another row.
type RowRelation struct {
	Kind string `json:"kind"`
	Row  int64  `json:"row"`
}

// Evidence says where a field of a suggestion was read. Page is nil for the name of a document. Confidence is set only for
// OCR.
type Evidence struct {
	Page       *int64 `json:"page"`
	Line       string `json:"line"`
	Confidence *int64 `json:"confidence"`
	// Doubtful says that a person should compare the field with the page. Readings are what it may be instead.
	Doubtful bool         `json:"doubtful"`
	Readings List[string] `json:"readings"`
}

// Suggestions is the response of GET /file-vault/files/{n}/suggestions.
type Suggestions struct {
	Data List[Suggestion] `json:"data"`
}

// RunsheetFile is the response of POST /abstracts/{id}/runsheet. Errors are the rows that are not valid.
type RunsheetFile struct {
	Data    List[Suggestion]     `json:"data"`
	Errors  List[RowError]       `json:"errors"`
	Columns List[RunsheetColumn] `json:"columns"`
}

// RunsheetColumn says which field the cells of a column of a file are in. Known is false if the heading isn't one of the
// field.
type RunsheetColumn struct {
	Heading string `json:"heading"`
	Field   string `json:"field"`
	Known   bool   `json:"known"`
}

// RowError says why a row of a file is not valid.
type RowError struct {
	Row   int64  `json:"row"`
	Error string `json:"error"`
}
