package suggestions

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// packedRow is a suggestion in the form of the review page, which stores nothing on the server. When
// the form is submitted, its values are validated like those of any other form.
type packedRow struct {
	Row       int                   `json:"row"`
	Fields    model.InstrumentInput `json:"fields"`
	Relations []vault.RowRelation   `json:"relations,omitempty"`
	Type      string                `json:"type,omitempty"`
	Shown     model.Instrument      `json:"shown"`
	Existing  uint64                `json:"existing,omitempty"`
}

// maxUnpacked is the maximum size of unpacked suggestions in bytes.
const maxUnpacked = 64 << 20

var errTooLarge = errors.New("too many suggestions")

// pack encodes suggestions as the value of a form field.
func pack(list []vault.Suggestion) (string, error) {
	rows := make([]packedRow, 0, len(list))
	for _, g := range list {
		rows = append(rows, packedRow{g.Row, g.Fields, g.Relations, g.Type.Name, g.Instrument, g.Existing})
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(w).Encode(rows), w.Close()); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes()), nil
}

// unpack decodes the value of a form field.
func unpack(text string) ([]vault.Suggestion, error) {
	packed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxUnpacked {
		return nil, errTooLarge
	}
	var rows []packedRow
	if err := json.Unmarshal(raw, &rows); err != nil {
		return nil, err
	}
	list := make([]vault.Suggestion, 0, len(rows))
	for _, row := range rows {
		list = append(list, vault.Suggestion{Row: row.Row, Fields: row.Fields, Relations: row.Relations, Instrument: row.Shown,
			Type: model.DocumentType{Name: row.Type}, Existing: row.Existing})
	}
	return list, nil
}
