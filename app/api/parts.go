package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"deedkeep/app/decode"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// uploadStager makes the trays that documents are read into.
type uploadStager interface {
	Stage(ctx context.Context) (*vault.StagedUpload, error)
}

// form is what a form body held: fields by name, and documents on a tray, which
// the handler must discard.
type form struct {
	fields  fields
	staged  *vault.StagedUpload
	notFile bool  // a part named like a file was none
	cost    int64 // of decoding the fields
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
func (e *server) readForm(c *request, trays uploadStager, names []string, withoutFiles bool) (*form, error) {
	message, accepted := acceptsMultipart, func(t string) bool { return t == multipart }
	if withoutFiles {
		message, accepted = acceptsForm, func(t string) bool { return t == multipart || t == urlencoded }
	}
	mediaType, boundary, err := c.mediaType(message, accepted)
	if err != nil {
		return nil, err
	}
	tray, err := trays.Stage(c.Context())
	if err != nil {
		return nil, err
	}
	f := &form{fields: fields{}, staged: tray}
	switch mediaType {
	case urlencoded:
		err = e.readPairs(c, f, names)
	case multipart:
		err = e.eachPart(c, boundary, func(part *sentPart) error { return f.take(c, part, names, e.Limits.FormFields) })
		if err == nil {
			err = c.memory.AcquireDecoded(c.Context(), f.cost)
		}
	}
	if err != nil {
		tray.Discard()
		return nil, err
	}
	return f, nil
}

// pairs reads an urlencoded body.
func (e *server) pairs(c *request) ([]decode.Pair, error) {
	raw, err := c.readAll(e.Limits.JSON)
	if err != nil {
		return nil, err
	}
	if err := c.memory.AcquireDecoded(c.Context(), httpx.DecodedCost(raw)); err != nil {
		return nil, err
	}
	pairs, err := decode.ParseForm(raw)
	c.content.pairs(pairs)
	return pairs, err
}

func (e *server) readPairs(c *request, f *form, names []string) error {
	pairs, err := e.pairs(c)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		f.fields[p.Name] = p.Value
		if decode.IsFileField(p.Name) {
			f.notFile = f.notFile || p.Value != ""
			continue
		}
		c.ignored.note(p.Name, names)
	}
	return nil
}

// eachPart reads a multipart body, handing out its parts as they come.
func (e *server) eachPart(c *request, boundary string, take func(*sentPart) error) error {
	if c.ContentLength > e.Limits.RequestBody {
		return httpx.TooLarge(e.Limits.RequestBody)
	}
	limited := http.MaxBytesReader(c.w, c.Body, e.Limits.RequestBody)
	parts := decode.NewReader(limited, boundary, decode.Limits{Parts: e.Limits.Parts, Fields: e.Limits.FormFields})
	defer parts.Close() //nolint:errcheck // it gives a buffer back and always succeeds
	for {
		part, err := parts.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
		sent := c.content.part(part)
		if err := take(sent); err != nil {
			return fmt.Errorf("part %d: %w", part.Number, err)
		}
		if err := sent.end(); err != nil {
			return err
		}
	}
}

// take reads one part; its name alone decides what it is (API.md, "Multipart bodies").
func (f *form) take(c *request, part *sentPart, names []string, most int64) error {
	switch decode.RoleOf(part.Name, names) {
	case decode.File:
		return f.takeFile(part)
	case decode.Field:
		value := fieldText{c: c, most: most}
		if _, err := part.WriteTo(&value); err != nil {
			return err
		}
		f.fields[part.Name] = value.String()
		f.cost += httpx.DecodedCost(value.Bytes())
	case decode.Ignored:
		c.ignored.sent.add(part.Name)
	}
	return nil
}

// fieldText is the value of a field, which takes its share of the memory for bodies.
type fieldText struct {
	bytes.Buffer
	c    *request
	most int64 // bytes of all fields of a body
}

func (t *fieldText) Write(p []byte) (int, error) {
	if err := t.c.memory.Add(t.c.Context(), int64(len(p)), t.most); err != nil {
		return 0, err
	}
	return t.Buffer.Write(p)
}

// hashBody reads a body for nothing but what it says.
func (e *server) hashBody(c *request) error {
	mediaType, boundary, err := c.mediaType("", func(string) bool { return true })
	switch {
	case err != nil || mediaType == "":
		return err
	case mediaType == multipart:
		return e.eachPart(c, boundary, func(*sentPart) error { return nil })
	case mediaType == urlencoded:
		_, err = e.pairs(c)
		return err
	}
	raw, err := c.readAll(e.Limits.JSON)
	c.content.json(raw)
	return err
}

func (f *form) takeFile(part *sentPart) error {
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
		return f.staged.Add(decode.Filename(""), io.MultiReader(bytes.NewReader(bytes.Clone(first)), part))
	}
	return f.staged.Add(decode.Filename(part.Filename), part)
}

// upload is the draft of documents without a record of their own.
func (f *form) upload() model.UploadDraft {
	return model.UploadDraft{FolderID: f.fields.number("folder_id"), NonFilePart: f.notFile}
}
