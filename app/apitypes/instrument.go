package apitypes

// Instrument is a recorded or recordable paper of an abstract. AbstractID is opaque. Dates have DateLayout, and
// RecordedTime is HH:MM or HH:MM:SS. Consideration is an amount in dollars with two decimals. Values that were not given are
// nil.
type Instrument struct {
	ID                 int64                `json:"id"`
	AbstractID         string               `json:"abstract_id"`
	TypeID             *int64               `json:"type_id"`
	Type               *string              `json:"type"`
	InstrumentNumber   *string              `json:"instrument_number"`
	BookType           *string              `json:"book_type"`
	Book               *string              `json:"book"`
	Page               *string              `json:"page"`
	PageTo             *string              `json:"page_to"`
	CaseNumber         *string              `json:"case_number"`
	Court              *string              `json:"court"`
	RecordingSystem    *string              `json:"recording_system"` // "recorded" or "registered"
	CertificateOfTitle *string              `json:"certificate_of_title"`
	County             *string              `json:"county"`
	State              *string              `json:"state"`
	Dated              *string              `json:"dated"`
	Recorded           *string              `json:"recorded"`
	RecordedTime       *string              `json:"recorded_time"`
	Expires            *string              `json:"expires"`
	Grantors           List[string]         `json:"grantors"`
	Grantees           List[string]         `json:"grantees"`
	OtherParties       List[Party]          `json:"other_parties"`
	Consideration      *string              `json:"consideration"`
	ConsiderationText  *string              `json:"consideration_text"`
	Parcels            List[string]         `json:"parcels"`
	Legal              *string              `json:"legal"`
	Remarks            *string              `json:"remarks"`
	Status             *string              `json:"status"`        // as in openapi.yaml; nil if it is missing
	StatusSetBy        *Actor               `json:"status_set_by"` // nil if the status is derived
	Relations          List[Relation]       `json:"relations"`
	Position           int64                `json:"position"` // place in the runsheet, starting with 1
	Exception          *string              `json:"exception"`
	Requirement        *string              `json:"requirement"`
	Cleared            *string              `json:"cleared"`
	Prior              bool                 `json:"prior"`
	Documents          List[InstrumentPage] `json:"documents"`
	CreatedAt          Time                 `json:"created_at"`
	UpdatedAt          Time                 `json:"updated_at"`
}

// Party is a party to an instrument that is neither grantor nor grantee.
type Party struct {
	Role *string `json:"role"`
	Name string  `json:"name"`
}

// Relation says what an instrument does to another one. Exactly one of InstrumentID and Text is usually set.
type Relation struct {
	Kind         string  `json:"kind"`
	InstrumentID *int64  `json:"instrument_id"`
	Text         *string `json:"text"`
}

// InstrumentPage says which document contains an instrument, and on which pages; nil means all pages.
type InstrumentPage struct {
	FileID int64   `json:"file_id"`
	Pages  *string `json:"pages"`
}

// InstrumentBody is the response of requests that create, read, change, or restore an instrument.
type InstrumentBody struct {
	Data Instrument `json:"data"`
}

// Runsheet is the response of GET /abstracts/{id}/instruments and GET /abstracts/{id}/runsheet. Gaps are breaks in the
// chain of title.
type Runsheet struct {
	Data List[Instrument] `json:"data"`
	Gaps List[Gap]        `json:"gaps"`
}

// Instruments is a list of the instruments of an abstract in the sequence of the runsheet.
type Instruments struct {
	Data List[Instrument] `json:"data"`
}

// Gap says that Name conveyed the property after the instrument After without having received it before.
type Gap struct {
	After int64  `json:"after"`
	Name  string `json:"name"`
}

// DocumentType is a type of instrument. Retired types are not offered for new instruments.
type DocumentType struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Category    string `json:"category"`
	Encumbrance bool   `json:"encumbrance"`
	Retired     bool   `json:"retired"`
	// Labels of the parties, such as Mortgagor and Mortgagee. "" in an import means the usual one.
	GrantorLabel string `json:"grantor_label" yaml:"grantor_label"`
	GranteeLabel string `json:"grantee_label" yaml:"grantee_label"`
}

// DocumentTypesImport is the body of POST /control/document-types/import.
type DocumentTypesImport struct {
	DryRun bool           `json:"dry_run"`
	Types  []DocumentType `json:"types"`
}

// DocumentTypes is the response of GET /document-types.
type DocumentTypes struct {
	Data List[DocumentType] `json:"data"`
}
