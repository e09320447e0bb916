package client

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
)

// InstrumentDraft is an instrument to record. Empty strings and lists count as absent.
type InstrumentDraft struct {
	Type             string           `json:"type,omitempty"`
	InstrumentNumber string           `json:"instrument_number,omitempty"`
	Recorded         string           `json:"recorded,omitempty"`
	Grantors         []string         `json:"grantors,omitempty"`
	Grantees         []string         `json:"grantees,omitempty"`
	Relations        []map[string]any `json:"relations,omitempty"`
	Documents        []map[string]any `json:"documents,omitempty"`
}

// CreateInstrument records an instrument of an abstract.
func (c *Client) CreateInstrument(ctx context.Context, abstract string, draft InstrumentDraft) (apitypes.Instrument, error) {
	path, err := abstractPath(abstract)
	if err != nil {
		return apitypes.Instrument{}, err
	}
	var body apitypes.InstrumentBody
	err = c.Do(ctx, http.MethodPost, path+"/instruments", draft, &body)
	return body.Data, err
}

// Instrument returns the instrument with this ID.
func (c *Client) Instrument(ctx context.Context, id int64) (apitypes.Instrument, error) {
	var body apitypes.InstrumentBody
	err := c.Do(ctx, http.MethodGet, fmt.Sprintf("/v1/instruments/%d", id), nil, &body)
	return body.Data, err
}

// PatchInstrument changes fields of an instrument and returns the changed instrument.
func (c *Client) PatchInstrument(ctx context.Context, id int64, change Patch) (apitypes.Instrument, error) {
	var body apitypes.InstrumentBody
	err := c.Do(ctx, http.MethodPatch, fmt.Sprintf("/v1/instruments/%d", id), change, &body)
	return body.Data, err
}
