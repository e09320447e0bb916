package control

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vault/purge"
)

// TrashItems returns up to limit records in the trash, newest first.
func (c *Client) TrashItems(ctx context.Context, limit int) ([]apitypes.TrashItem, error) {
	return data[[]apitypes.TrashItem](ctx, c, fmt.Sprintf("GET /control/trash?limit=%d", limit), nil)
}

func (h handler) trash(r *http.Request) (any, error) {
	ids := encode.NewIDCodec(h.App.Secrets)
	return firstRecords(r, vault.Query{Sort: model.SortCreated, Descending: true}, h.App.Trash.List,
		func(t vault.Trashed) apitypes.TrashItem { return trashItem(ids, t) })
}

// TrashItem returns the record in the trash with a name like file:17.
func (c *Client) TrashItem(ctx context.Context, record string) (apitypes.TrashItem, error) {
	return call[apitypes.TrashItem](ctx, c, "GET /control/trash/"+url.PathEscape(record), nil)
}

func (h handler) trashed(r *http.Request) (any, error) {
	ids := encode.NewIDCodec(h.App.Secrets)
	recordType, id, err := trashRecord(ids, r.PathValue("record"))
	if err != nil {
		return nil, err
	}
	item, err := h.App.Trash.Find(r.Context(), recordType, id)
	return trashItem(ids, item), err
}

// TrashPurgeable returns the number of records that EmptyTrash would delete.
func (c *Client) TrashPurgeable(ctx context.Context) (apitypes.TrashPurgeable, error) {
	return call[apitypes.TrashPurgeable](ctx, c, "GET /control/trash/purgeable", nil)
}

func (h handler) purgeable(r *http.Request) (any, error) {
	due, kept, err := h.App.Purger.Purgeable(r.Context())
	return apitypes.TrashPurgeable{Records: int64(due), Kept: int64(kept)}, err
}

// RestoreTrash takes one record out of the trash and returns what the trash showed.
func (c *Client) RestoreTrash(ctx context.Context, record string) (apitypes.TrashItem, error) {
	return call[apitypes.TrashItem](ctx, c, "POST /control/trash/restore", apitypes.TrashRestore{Record: record})
}

func (h handler) restoreTrash(r *http.Request, asked apitypes.TrashRestore) (any, error) {
	ids := encode.NewIDCodec(h.App.Secrets)
	recordType, id, err := trashRecord(ids, asked.Record)
	if err != nil {
		return nil, err
	}
	item, err := h.App.Trash.Find(r.Context(), recordType, id)
	if err != nil {
		return nil, err
	}
	return trashItem(ids, item), h.App.Trash.Restore(r.Context(), operator(r), recordType, id)
}

// PurgeTrash deletes one record in the trash permanently. A reason overrides the retention period.
func (c *Client) PurgeTrash(ctx context.Context, record, reason string) (apitypes.TrashPurged, error) {
	return call[apitypes.TrashPurged](ctx, c, "POST /control/trash/purge", apitypes.TrashPurge{Record: record, Reason: reason})
}

func (h handler) purge(r *http.Request, asked apitypes.TrashPurge) (any, error) {
	recordType, id, err := trashRecord(encode.NewIDCodec(h.App.Secrets), asked.Record)
	if err != nil {
		return nil, err
	}
	done, err := h.App.Purger.Purge(r.Context(), operator(r), recordType, id, asked.Reason)
	return trashPurged(done), err
}

// EmptyTrash permanently deletes all records in the trash whose retention period is over.
func (c *Client) EmptyTrash(ctx context.Context) (apitypes.TrashPurged, error) {
	return call[apitypes.TrashPurged](ctx, c, "POST /control/trash/empty", nil)
}

func (h handler) emptyTrash(r *http.Request) (any, error) {
	done, err := h.App.Purger.Empty(r.Context(), operator(r))
	return trashPurged(done), err
}

// trashRecord parses the name of a record in the form that commands use, like file:17 or order:Zz9aB31x.
func trashRecord(ids encode.IDCodec, text string) (recordType string, id uint64, err error) {
	recordType, id, ok := model.ParseRef(ids.Decode(text))
	if !ok {
		return "", 0, errs.RecordNotFound("trash record", text)
	}
	return recordType, id, nil
}

func trashItem(ids encode.IDCodec, t vault.Trashed) apitypes.TrashItem {
	item := apitypes.TrashItem{
		Record: ids.Encode(model.RecordRef(t.Type, t.ID)), Kind: t.Type, Name: t.Heading, DeletedAt: apitypes.At(t.At),
		KeptUntil: apitypes.At(t.Until),
		DeletedBy: encode.Actor(t.By),
	}
	if !t.RetainedUntil.IsZero() {
		item.RetainedUntil = new(apitypes.At(t.RetainedUntil))
	}
	if of := t.Abstract; of != nil {
		item.Abstract = &apitypes.TrashAbstract{ID: ids.Abstracts.Encode(of.ID), Name: encode.OptionalString(of.Heading),
			InTrash: !of.Live && of.Heading != "", Purged: of.Heading == ""}
	}
	return item
}

func trashPurged(done purge.Result) apitypes.TrashPurged {
	return apitypes.TrashPurged{Records: int64(done.Records), Documents: int64(done.Files), Kept: int64(done.Kept),
		FreedBytes: done.FreedBytes, Waits: done.Deferred}
}
