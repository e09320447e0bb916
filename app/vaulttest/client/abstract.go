package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/apitypes"
)

// AbstractDraft is an abstract to create. If TemplateID is nil, the default template is used. Empty strings count as
// absent. CustomFields maps keys to values that can be encoded as JSON.
type AbstractDraft struct {
	TemplateID   *int64
	CustomFields map[string]any
	Address      string
	City         string
	County       string
	State        string
	TaxMap       string
	Files        []Upload
}

// CreateAbstract creates an abstract and streams its documents. The result lists every rejected file. If the error is
// an *Error of status 422, nothing was stored.
func (c *Client) CreateAbstract(ctx context.Context, draft AbstractDraft) (apitypes.AbstractCreated, error) {
	f, err := draft.form()
	if err != nil {
		return apitypes.AbstractCreated{}, fmt.Errorf("create abstract: %w", err)
	}
	var created apitypes.AbstractCreated
	err = c.post(ctx, "/v1/abstracts", f, &created)
	return created, err
}

func (d AbstractDraft) form() (*form, error) {
	var template, custom string
	if d.TemplateID != nil {
		template = strconv.FormatInt(*d.TemplateID, 10)
	}
	if len(d.CustomFields) > 0 {
		text, err := apitypes.Marshal(d.CustomFields)
		if err != nil {
			return nil, fmt.Errorf("custom fields: %w", err)
		}
		custom = string(text)
	}
	f := newForm()
	for _, part := range [...]struct{ name, value string }{
		{"template_id", template}, {"custom_fields", custom},
		{"address", d.Address}, {"city", d.City}, {"county", d.County}, {"state", d.State}, {"tax_map", d.TaxMap},
	} {
		if err := f.field(part.name, part.value); err != nil {
			return nil, err
		}
	}
	err := f.files("files[]", d.Files)
	return f, err
}

// Abstract returns the abstract with this ID.
func (c *Client) Abstract(ctx context.Context, id string) (apitypes.Abstract, error) {
	path, err := abstractPath(id)
	if err != nil {
		return apitypes.Abstract{}, err
	}
	var body apitypes.AbstractBody
	err = c.Do(ctx, http.MethodGet, path, nil, &body)
	return body.Data, err
}

// AbstractPage returns one page of the list of abstracts.
func (c *Client) AbstractPage(ctx context.Context, l ListOptions) (apitypes.Page[apitypes.Abstract], error) {
	return page[apitypes.Abstract](ctx, c, "/v1/abstracts", l)
}

// Abstracts iterates over the list of abstracts and reads pages as needed.
func (c *Client) Abstracts(ctx context.Context, l ListOptions) iter.Seq2[apitypes.Abstract, error] {
	return all[apitypes.Abstract](ctx, c, "/v1/abstracts", l)
}

// PatchAbstract changes fields of an abstract and returns the changed abstract.
func (c *Client) PatchAbstract(ctx context.Context, id string, change Patch) (apitypes.Abstract, error) {
	path, err := abstractPath(id)
	if err != nil {
		return apitypes.Abstract{}, err
	}
	var body apitypes.AbstractBody
	err = c.Do(ctx, http.MethodPatch, path, change, &body)
	return body.Data, err
}

// TrashAbstract moves an abstract and its documents to the trash.
func (c *Client) TrashAbstract(ctx context.Context, id string) error {
	path, err := abstractPath(id)
	if err != nil {
		return err
	}
	return c.delete(ctx, path)
}

// RestoreAbstract restores an abstract and its documents from the trash.
func (c *Client) RestoreAbstract(ctx context.Context, id string) (apitypes.Abstract, error) {
	path, err := abstractPath(id)
	if err != nil {
		return apitypes.Abstract{}, err
	}
	var body apitypes.AbstractBody
	err = c.Do(ctx, http.MethodPost, path+"/restore", nil, &body)
	return body.Data, err
}

// DetachFile removes document n from its abstract and moves it to the trash.
func (c *Client) DetachFile(ctx context.Context, id string, n int64) error {
	path, err := abstractPath(id)
	if err != nil {
		return err
	}
	return c.delete(ctx, path+"/files/"+strconv.FormatInt(n, 10))
}

// AddFiles adds at least one document to an abstract. The result lists all its files and the files that this call
// rejected.
func (c *Client) AddFiles(ctx context.Context, id string, files []Upload) (apitypes.AbstractCreated, error) {
	path, err := abstractPath(id)
	if err != nil {
		return apitypes.AbstractCreated{}, err
	}
	f := newForm()
	if err := f.files("files[]", files); err != nil {
		return apitypes.AbstractCreated{}, fmt.Errorf("add files to abstract %s: %w", id, err)
	}
	var created apitypes.AbstractCreated
	err = c.post(ctx, path+"/files", f, &created)
	return created, err
}

// post sends a form and decodes the JSON of a successful response into result.
func (c *Client) post(ctx context.Context, path string, f *form, result any) error {
	body, contentType, err := f.body()
	if err != nil {
		return fmt.Errorf("POST %s: %w", path, err)
	}
	return c.DoRaw(ctx, http.MethodPost, path, body, contentType, result)
}

func abstractPath(id string) (string, error) {
	if id == "" {
		// With an empty ID, the path would be the path of the list.
		return "", errors.New("abstract: the id is empty")
	}
	return "/v1/abstracts/" + url.PathEscape(id), nil
}
