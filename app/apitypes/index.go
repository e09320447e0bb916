package apitypes

// SearchIndex is how the index of words is (COMMANDS.md, "reindex"). Ready says that
// it answers, Building that one is being made, be it beside one that answers: Done of
// Total records are in that one; nil when none is. The one that answers has Records, in
// Bytes on the disk and Segments files; Behind are changes that it does not know of
// yet. Texts are documents whose text is still to be made again, Lacking those of them
// that the one that answers does not find by their text. Since is of this state, nil
// where no server runs. Error says why nothing goes on; nil when all is well.
type SearchIndex struct {
	Ready    bool    `json:"ready"`
	Building bool    `json:"building"`
	Done     *int64  `json:"done"`
	Total    *int64  `json:"total"`
	Records  int64   `json:"records"`
	Bytes    int64   `json:"bytes"`
	Segments int64   `json:"segments"`
	Behind   int64   `json:"behind"`
	Texts    int64   `json:"texts,omitempty"`
	Lacking  int64   `json:"lacking,omitempty"`
	Since    *Time   `json:"since"`
	Error    *string `json:"error"`
}
