package control

import (
	"cmp"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/errs"
)

// Probes creates paths of the public address for probes; nil if no server runs.
type Probes interface {
	Open() (path string, err error)
}

func (c handler) checkup(r *http.Request) (any, error) {
	status, err := c.currentStatus(r)
	if err != nil {
		return nil, err
	}
	found, err := c.Vault.Checkup(r.Context())
	out := apitypes.Checkup{Status: status, MonthBytes: int64(found.MonthBytes), Clean: found.CacheCheck.Clean,
		Unchecked: found.CacheCheck.SkipReason}
	if failed := cmp.Or(found.CacheCheck.WriteError, found.CacheCheck.LostWrites); failed != nil {
		out.DiskError = failed.Error()
	}
	if !found.NewestEvent.IsZero() {
		out.NewestEventAt = new(apitypes.At(found.NewestEvent))
	}
	if !found.UncleanStopAt.IsZero() {
		out.CutAt = new(apitypes.At(found.UncleanStopAt))
	}
	if c.Forwarded != nil {
		out.Forwarded = c.Forwarded.List()
	}
	return out, err
}

func (c handler) openProbe(*http.Request) (any, error) {
	if c.Probes == nil {
		return nil, &errs.Error{Kind: errs.Conflict, Message: "No server runs here that a probe could reach."}
	}
	path, err := c.Probes.Open()
	return apitypes.ProbeOpened{Path: path}, err
}
