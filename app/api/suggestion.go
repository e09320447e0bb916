package api

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"deedkeep/app/apitypes"
	"deedkeep/app/decode"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/vault"
)

const readRunsheetPath = "/abstracts/:id/runsheet"

// readRunsheetFile returns the instruments of a CSV file or an Excel workbook. It stores nothing.
func (h instrumentHandler) readRunsheetFile(r *request) (response, error) {
	id, err := r.opaqueID(h.server.abstracts)
	if err != nil {
		return response{}, err
	}
	if _, err := h.server.App.Abstracts.Get(r.Context(), id); err != nil {
		return response{}, err // respond 404 before reading the body
	}
	raw, err := h.server.readFilePart(r, "file")
	if err != nil {
		return response{}, err
	}
	table, err := h.service.ReadRunsheet(r.Context(), r.actor, raw)
	if err != nil {
		return response{}, err
	}
	columns, err := chosenColumns(r, table.Header)
	if err != nil {
		return response{}, err
	}
	checked, err := h.service.CheckRunsheet(r.Context(), r.actor, id, table, runsheet.Options{Columns: columns})
	if err != nil {
		return response{}, err
	}
	var body apitypes.RunsheetFile
	for _, c := range checked.Columns {
		if !c.Blank {
			body.Columns = append(body.Columns, apitypes.RunsheetColumn{Heading: c.Heading, Field: c.Field, Known: c.Known})
		}
	}
	for _, g := range checked.Valid {
		body.Data = append(body.Data, suggestion(g))
	}
	for _, row := range checked.Rejected {
		body.Errors = append(body.Errors, apitypes.RowError{Row: int64(row.Row), Error: row.Fields.Summary(errs.Problem.Sentence)})
	}
	return okResponse(body)
}

const notColumns errs.Code = "The {field} field must map columns of the file to fields, such as Seller:grantors."

// chosenColumns returns the fields that a request chooses for columns, by column. A column is given by its heading or by
// its number, starting with 1.
func chosenColumns(r *request, header []string) (map[int]string, error) {
	const name = "columns"
	r.ignored.addQuery(r.URL.RawQuery, name)
	pairs, err := queryPairs(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	chosen := map[int]string{}
	for _, pair := range pairs {
		if pair.Name != name || pair.Value == "" {
			continue
		}
		if utf8.RuneCountInString(pair.Value) > model.MaxLineLength {
			return nil, errs.InvalidField(name, errs.TooLong, model.MaxLineLength)
		}
		for choice := range strings.SplitSeq(pair.Value, ",") {
			at := strings.LastIndexByte(choice, ':')
			isField := func(f runsheet.Field) bool { return f.Name == strings.TrimSpace(choice[at+1:]) }
			columns := columnsNamed(strings.TrimSpace(choice[:max(at, 0)]), header)
			if len(columns) == 0 || !slices.ContainsFunc(runsheet.Fields(), isField) {
				return nil, errs.InvalidField(name, notColumns)
			}
			for _, n := range columns {
				chosen[n] = strings.TrimSpace(choice[at+1:])
			}
		}
	}
	return chosen, nil
}

// columnsNamed returns the columns with a heading or, if there are none, the one with that number.
func columnsNamed(heading string, header []string) (list []int) {
	for n, title := range header {
		if heading != "" && strings.EqualFold(strings.TrimSpace(title), heading) {
			list = append(list, n)
		}
	}
	if n, err := strconv.Atoi(heading); err == nil && len(list) == 0 && n >= 1 && n <= len(header) {
		list = append(list, n-1)
	}
	return list
}

// suggestions returns the instruments that the text and the name of a document describe.
func (h instrumentHandler) suggestions(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	work, err := h.service.WorkOnDocument(r.Context(), id)
	if err != nil {
		return response{}, err
	}
	list, err := h.service.SuggestFromDocument(r.Context(), work)
	if err != nil {
		return response{}, err
	}
	var body apitypes.Suggestions
	for _, g := range vault.SuggestionsFor(list, 0) {
		body.Data = append(body.Data, suggestion(g))
	}
	return okResponse(body)
}

func suggestion(g vault.Suggestion) apitypes.Suggestion {
	line := ""
	if len(g.Files) > 0 {
		line = g.Files[0].Filename
	}
	existing := g.Existing
	if g.Possible {
		existing = 0
	}
	shape := encode.Suggestion(g.Row, g.Fields, existing, line)
	if g.Pages != "" {
		shape.Pages, shape.Boundary = &g.Pages, &apitypes.Boundary{Confidence: int64(g.Boundary)}
	}
	for field, e := range g.Evidence {
		if _, set := shape.Fields[field]; set {
			shape.Evidence[field] = apitypes.Evidence{Page: encode.OptionalID(uint64(e.Page)), Line: e.Line, Confidence: confidence(e.Confidence),
				Doubtful: e.Doubtful, Readings: e.Readings}
		}
	}
	for _, relation := range g.Relations {
		shape.Relations = append(shape.Relations, apitypes.RowRelation{Kind: relation.Kind, Row: int64(relation.Row)})
	}
	return shape
}

// confidence returns the confidence of evidence, or nil for text that is not from OCR.
func confidence(percent *int) *int64 {
	if percent == nil {
		return nil
	}
	return new(int64(*percent))
}

// readFilePart reads a multipart body with one file and returns its content. The file is kept in
// memory, so it is limited like form fields.
func (s *server) readFilePart(r *request, name string) ([]byte, error) {
	_, boundary, err := r.mediaType(msgWantMultipart, func(t string) bool { return t == mediaMultipart })
	if err != nil {
		return nil, err
	}
	content := fieldBuffer{r: r, maxBytes: s.Limits.FormFields}
	var rejected errs.Fields
	found := false
	err = s.forEachPart(r, boundary, func(part *decode.Part) error {
		switch {
		case part.Name != name || found:
			r.ignored.sent.add(part.Name)
			return nil
		case !part.HasFilename:
			rejected.Add(name, errs.NotFile)
			return nil
		}
		found = true
		_, err := part.WriteTo(&content)
		return err
	})
	if err != nil {
		return nil, err
	}
	if content.Len() == 0 && len(rejected) == 0 {
		rejected.Add(name, errs.Required)
	}
	if err := rejected.Err(); err != nil {
		return nil, err
	}
	return content.Bytes(), r.memory.AcquireDecoded(r.Context(), httpx.DecodedCost(content.Bytes()))
}
