package suggestions

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// packedRow is a suggestion in the form of the review page, which stores nothing on the server. When
// the form is submitted, its values are validated like those of any other form.
type packedRow struct {
	Row       int                 `json:"row"`
	Fields    model.Inputs        `json:"fields"`
	Relations []vault.RowRelation `json:"relations,omitempty"`
	Type      string              `json:"type,omitempty"`
	Shown     model.Instrument    `json:"shown"`
	Repeat    vault.Repeat        `json:"repeat,omitzero"`
	Files     []model.File        `json:"files,omitempty"` // only their names
	Reading   bool                `json:"reading,omitempty"`
}

// packedReview is what a review page has besides the choices of the user. Columns and Table are empty if the
// suggestions are not from a file.
type packedReview struct {
	Rows    []packedRow       `json:"rows"`
	Columns []runsheet.Column `json:"columns,omitempty"`
	Table   runsheet.Table    `json:"table,omitzero"`
	Left    int               `json:"left,omitempty"`  // number of rows that aren't valid
	Swaps   []string          `json:"swaps,omitempty"` // document types whose parties are exchanged
	Done    []int             `json:"done,omitempty"`  // rows that were added or left out, while others are corrected
}

// maxUnpacked is the maximum size of unpacked suggestions in bytes.
const maxUnpacked = 64 << 20

var errTooLarge = errors.New("too many suggestions")

// packPurpose is the purpose for which packed suggestions are encrypted.
const packPurpose = "runsheet review"

// packOwner returns who can unpack suggestions: the same user, for the same abstract.
func packOwner(r *page.Request) string { return fmt.Sprintf("%s abstract:%d", r.Record(), r.PathID) }

// pack encodes suggestions as the value of a form field. It is encrypted, because a forged value of a
// few kilobytes could unpack to more rows than fit in memory.
func (p *Pages) pack(r *page.Request, list []vault.Suggestion, packed packedReview) (string, error) {
	packed.Rows = make([]packedRow, 0, len(list))
	for _, g := range list {
		row := packedRow{g.Row, g.Fields, g.Relations, g.Type.Name, g.Instrument, g.Repeat, nil, g.Reading}
		for _, f := range g.Files {
			row.Files = append(row.Files, model.File{ID: f.ID, Filename: f.Filename})
		}
		packed.Rows = append(packed.Rows, row)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(w).Encode(packed), w.Close()); err != nil {
		return "", err
	}
	return p.App.Secrets.Encrypt(rand.Reader, packPurpose, packOwner(r), b.String())
}

// unpack decodes the value of a form field that pack encoded.
func (p *Pages) unpack(r *page.Request, text string) (list []vault.Suggestion, review packedReview, err error) {
	packed, err := p.App.Secrets.Decrypt(packPurpose, packOwner(r), text)
	if err != nil {
		return nil, review, err
	}
	unzipped, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		return nil, review, err
	}
	raw, err := io.ReadAll(io.LimitReader(unzipped, maxUnpacked+1))
	if err != nil {
		return nil, review, err
	}
	if len(raw) > maxUnpacked {
		return nil, review, errTooLarge
	}
	if err := json.Unmarshal(raw, &review); err != nil {
		return nil, review, err
	}
	for _, row := range review.Rows {
		list = append(list, vault.Suggestion{Row: row.Row, Fields: row.Fields, Relations: row.Relations, Instrument: row.Shown,
			Type: model.DocumentType{Name: row.Type}, Repeat: row.Repeat, Files: row.Files, Reading: row.Reading})
	}
	return list, review, nil
}
