package wire

// SearchIndex is how the index of words is (COMMANDS.md, "reindex"). Ready says that
// it answers, Building that one is being made, be it beside one that answers: Done of
// Total records are in that one. Bytes are on the disk, in Segments files; Behind are
// changes that it does not know of yet, Texts documents that are not found by their
// text until that is made again. Since is of this state, nil where no server
// runs. Failed says why nothing goes on; "" when all is well.
type SearchIndex struct {
	Ready     bool   `json:"ready"`
	Building  bool   `json:"building"`
	Done      int64  `json:"done"`
	Total     int64  `json:"total"`
	Documents int64  `json:"documents"`
	Bytes     int64  `json:"bytes"`
	Segments  int64  `json:"segments"`
	Behind    int64  `json:"behind"`
	Texts     int64  `json:"texts,omitempty"`
	Since     *Time  `json:"since"`
	Failed    string `json:"failed"`
}
