package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"deedkeep/app/body"
	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// trays makes the trays that documents are read into.
type trays interface {
	NewTray(ctx context.Context) (*vault.Tray, error)
}

// form is what a form body held: fields by name, and documents on a tray, which
// the handler must discard.
type form struct {
	fields  fields
	tray    *vault.Tray
	notFile bool // a part named like a file was none
}

const (
	acceptsForm      = "The Content-Type must be multipart/form-data, or application/x-www-form-urlencoded when no files are sent."
	acceptsMultipart = "The Content-Type must be multipart/form-data."
	urlencoded       = "application/x-www-form-urlencoded"
	multipart        = "multipart/form-data"
)

// readForm reads a form as a stream: a document goes to disk while the rest still
// arrives, whatever the order of the parts. names are the fields of the endpoint's
// table; withoutFiles allows an urlencoded body.
func (e *edge) readForm(c *call, trays trays, names []string, withoutFiles bool) (*form, error) {
	message, accepted := acceptsMultipart, func(t string) bool { return t == multipart }
	if withoutFiles {
		message, accepted = acceptsForm, func(t string) bool { return t == multipart || t == urlencoded }
	}
	mediaType, boundary, err := c.mediaType(message, accepted)
	if err != nil {
		return nil, err
	}
	tray, err := trays.NewTray(c.Context())
	if err != nil {
		return nil, err
	}
	f := &form{fields: fields{}, tray: tray}
	switch mediaType {
	case urlencoded:
		err = e.readPairs(c, f)
	case multipart:
		err = e.readParts(c, f, boundary, names)
	}
	if err != nil {
		tray.Discard()
		return nil, err
	}
	return f, nil
}

func (e *edge) readPairs(c *call, f *form) error {
	raw, err := c.whole(e.Limits.JSON)
	if err != nil {
		return err
	}
	pairs, err := body.ParseForm(raw)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		f.fields[p.Name] = p.Value
		f.notFile = f.notFile || body.FileField(p.Name) && p.Value != ""
	}
	return nil
}

func (e *edge) readParts(c *call, f *form, boundary string, names []string) error {
	if c.ContentLength > e.Limits.RequestBody {
		return tooLarge(e.Limits.RequestBody)
	}
	limited := http.MaxBytesReader(c.w, c.Body, e.Limits.RequestBody)
	parts := body.NewReader(limited, boundary, body.Limits{Parts: e.Limits.Parts, Fields: e.Limits.FormFields})
	defer parts.Close() //nolint:errcheck // it gives a buffer back and always succeeds
	for {
		part, err := parts.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f.take(part, names); err != nil {
			return fmt.Errorf("part %d: %w", part.Number, err)
		}
	}
}

// take reads one part; its name alone decides what it is (API.md, "Multipart bodies").
func (f *form) take(part *body.Part, names []string) error {
	switch body.RoleOf(part.Name, names) {
	case body.File:
		return f.takeFile(part)
	case body.Field:
		var value bytes.Buffer
		if _, err := part.WriteTo(&value); err != nil {
			return err
		}
		f.fields[part.Name] = value.String()
	}
	return nil
}

func (f *form) takeFile(part *body.Part) error {
	if part.Filename == "" {
		first, err := part.Chunk()
		switch {
		case errors.Is(err, io.EOF):
			return nil // the empty file input of a browser
		case err != nil:
			return err
		case !part.HasFilename:
			f.notFile = true
			return nil // the next part skips what is left
		}
		return f.tray.Add(body.Filename(""), io.MultiReader(bytes.NewReader(bytes.Clone(first)), part))
	}
	return f.tray.Add(body.Filename(part.Filename), part)
}

// upload is the draft of documents without a record of their own.
func (f *form) upload() title.UploadDraft {
	return title.UploadDraft{FolderID: f.fields.number("folder_id"), NotFile: f.notFile}
}
