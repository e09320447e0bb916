package apitypes

// Verify is the result of a verification (COMMANDS.md, "verify"). Records,
// Files, Blobs, Bytes and Events count what was looked at; Orphans and Leftovers
// are notes and leave OK true, and so are texts and previews that the server rebuilds:
// those from another version, and damaged ones; every finding makes it false. SearchBytes are of the
// search index that was read; 0 where there is none.
type Verify struct {
	OK          bool          `json:"ok"`
	Records     int64         `json:"records"`
	Files       int64         `json:"files"`
	Blobs       int64         `json:"blobs"`
	Bytes       int64         `json:"bytes"`
	Events      int64         `json:"events"`
	Orphans     int64         `json:"orphans"`
	Leftovers   int64         `json:"leftovers"`
	SearchBytes int64         `json:"search_bytes"`
	Texts       int64         `json:"texts,omitempty"` // of documents, for searches, that are still to be made again: a note too
	Other       int64         `json:"previews_other_version,omitempty"`
	Damaged     int64         `json:"previews_damaged,omitempty"`
	Findings    List[Finding] `json:"findings"`
	Repaired    *Repaired     `json:"repaired,omitempty"` // of a repair alone
}

// Repaired is what a repair did before the verification (COMMANDS.md, "verify
// --repair"). Done is false where nothing was touched, and a finding says why.
// Findings counts those about records and indexes before it; Tasks are those of the
// processing; Leftovers and Orphans were removed.
type Repaired struct {
	Done         bool  `json:"done"`
	Findings     int64 `json:"findings"`
	TasksAdded   int64 `json:"tasks_added"`
	TasksRemoved int64 `json:"tasks_removed"`
	Leftovers    int64 `json:"leftovers"`
	Orphans      int64 `json:"orphans"`
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
