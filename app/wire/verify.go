package wire

// Verify is the result of a verification (COMMANDS.md, "verify"). Records,
// Files, Blobs, Bytes and Events count what was looked at; Orphans and Leftovers
// are notes and leave OK true; every finding makes it false.
type Verify struct {
	OK        bool          `json:"ok"`
	Records   int64         `json:"records"`
	Files     int64         `json:"files"`
	Blobs     int64         `json:"blobs"`
	Bytes     int64         `json:"bytes"`
	Events    int64         `json:"events"`
	Orphans   int64         `json:"orphans"`
	Leftovers int64         `json:"leftovers"`
	Findings  List[Finding] `json:"findings"`
}

// Finding is one damage: what kind, of which record, blob or index, and in
// words what is wrong with it.
type Finding struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	Problem string `json:"problem"`
}

// Progress says how far something long is; Unit names what Done and Total count, for
// instance "bytes". Total is 0 while it is unknown.
type Progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	Unit  string `json:"unit"`
}

// Line is one line of an answer of the control door that is streamed, which is
// application/x-ndjson. Exactly one of Progress, Result and Error is set; the last
// line has Result or Error, and an answer without such a line was cut. Status is that
// of the error.
//
//	{"progress":{"done":4096,"total":8192,"unit":"bytes"}}
//	{"result":{"ok":true,…}}   or   {"error":"…","status":500}
type Line[T any] struct {
	Progress *Progress `json:"progress,omitempty"`
	Result   *T        `json:"result,omitempty"`
	Error    string    `json:"error,omitempty"`
	Status   int       `json:"status,omitempty"`
}
