package apitypes

// OrderLink is the response of GET and PUT /abstracts/{id}/order. OrderID is opaque, or nil if the abstract has no order.
type OrderLink struct {
	Data OrderLinkData `json:"data"`
}

// OrderLinkData names the order of an abstract.
type OrderLinkData struct {
	OrderID *string `json:"order_id"`
}

// AbstractsOfOrder is the response of GET /orders/{id}/abstracts, newest first.
type AbstractsOfOrder struct {
	Data List[Abstract] `json:"data"`
}

// AssignmentBody is the response of GET and PUT /abstracts/{id}/assignment.
type AssignmentBody struct {
	Data Assignment `json:"data"`
}

// Assignment says which users work on an abstract. DueDate has DateLayout.
type Assignment struct {
	Searcher *int64  `json:"searcher"`
	Examiner *int64  `json:"examiner"`
	DueDate  *string `json:"due_date"`
}

// NamesRun is the response of GET and PUT /abstracts/{id}/names-run.
type NamesRun struct {
	Data List[NameRun] `json:"data"`
}

// NameRun says that the indexes were searched for a name, or, if Pending, that they are to be searched again. From and To have
// DateLayout.
type NameRun struct {
	Name    string       `json:"name"`
	From    *string      `json:"from"`
	To      *string      `json:"to"`
	Indexes List[string] `json:"indexes"`
	Result  *string      `json:"result"`
	Pending bool         `json:"pending"`
	By      Actor        `json:"by"`
	At      Time         `json:"at"`
}

// Requirements is the response of GET and PUT /abstracts/{id}/requirements.
type Requirements struct {
	Data List[Requirement] `json:"data"`
}

// Requirement is a requirement or an exception. Source is "instrument" if it belongs to an instrument and "abstract"
// otherwise.
type Requirement struct {
	Kind         string  `json:"kind"`
	Text         string  `json:"text"`
	InstrumentID *int64  `json:"instrument_id"`
	Cleared      *string `json:"cleared"`
	Source       string  `json:"source"`
}

// Phrases is the response of GET and PUT /phrases, in display order.
type Phrases struct {
	Data List[Phrase] `json:"data"`
}

// Phrase is a standard sentence for requirements or exceptions, with placeholders such as {book}.
type Phrase struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// NoteBody is the response of requests that create or change a note.
type NoteBody struct {
	Data Note `json:"data"`
}

// Notes is a list of notes, oldest first.
type Notes struct {
	Data List[Note] `json:"data"`
}

// Note is a remark about an abstract, an order, or a document. Page is a page of the document, and Area is highlighted on it.
type Note struct {
	ID        int64     `json:"id"`
	Text      string    `json:"text"`
	Page      *int64    `json:"page"`
	Area      *NoteArea `json:"area"`
	By        Actor     `json:"by"`
	CreatedAt Time      `json:"created_at"`
	UpdatedAt Time      `json:"updated_at"`
	EditedBy  *Actor    `json:"edited_by"` // who changed it last
}

// NoteArea is an area of a page in points of 1/72 inch, from the top left corner of the page before it is rotated.
type NoteArea struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// CertificateBody is the response of requests that create or void a certificate.
type CertificateBody struct {
	Data SearchCertificate `json:"data"`
}

// Certificates is the response of GET /abstracts/{id}/certificate, newest first.
type Certificates struct {
	Data List[SearchCertificate] `json:"data"`
}

// SearchCertificate says through which date the indexes were searched. FileID is the document with the runsheet at that time, and
// SHA256 is its digest in lowercase hex. FullName and Title are those of By at that time.
// ChangedSince is true if the runsheet has changed since.
type SearchCertificate struct {
	ID              int64        `json:"id"`
	EffectiveDate   string       `json:"effective_date"`
	EffectiveTime   *string      `json:"effective_time"`
	SearchFrom      *string      `json:"search_from"`
	IndicesSearched List[string] `json:"indices_searched"`
	By              Actor        `json:"by"`
	FullName        *string      `json:"full_name"`
	Title           *string      `json:"title"`
	At              Time         `json:"at"`
	FileID          *int64       `json:"file_id"`
	SHA256          string       `json:"sha256"`
	ChangedSince    bool         `json:"changed_since"`
	// Accepted are the findings that were accepted with a reason, and Unaccepted are the others.
	Accepted   List[AcceptedCheck] `json:"accepted"`
	Unaccepted List[OpenCheck]     `json:"unaccepted"`
	// VoidedAt, VoidedBy, and VoidReason are null if the certificate is valid.
	VoidedAt   *Time   `json:"voided_at"`
	VoidedBy   *Actor  `json:"voided_by"`
	VoidReason *string `json:"void_reason"`
}

// AcceptedCheck is a finding with the reason why it is accepted. Check is the ID of a Check, and Text what it says; nil if
// there was no such finding.
type AcceptedCheck struct {
	Check  string  `json:"check"`
	Text   *string `json:"text"`
	Reason string  `json:"reason"`
}

// OpenCheck is a finding that wasn't accepted.
type OpenCheck struct {
	Check string `json:"check"`
	Text  string `json:"text"`
}

// Checks is the response of GET /abstracts/{id}/checks.
type Checks struct {
	Data List[Check] `json:"data"`
}

// Check is something to fix or to accept before a search is certified. ID identifies it, and Check is its kind, such as
// "open_lien". Proposal is the reason for which the same finding was accepted before.
type Check struct {
	ID           string  `json:"id"`
	Check        string  `json:"check"`
	Text         string  `json:"text"`
	Advice       string  `json:"advice"`
	InstrumentID *int64  `json:"instrument_id"`
	FileID       *int64  `json:"file_id"`
	Proposal     *string `json:"proposal"`
}

// BringDown is the response of POST /abstracts/{id}/bring-down. NotTaken says what stayed in the prior abstract.
type BringDown struct {
	Data     Abstract     `json:"data"`
	NotTaken List[string] `json:"not_taken"`
}
