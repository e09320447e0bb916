package control

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

func (c handler) trashRoutes() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /control/trash":           c.trash,
		"GET /control/trash/purgeable": c.purgeable,
		"GET /control/trash/{record}":  c.trashed,
		"POST /control/trash/purge":    c.purge,
		"POST /control/trash/empty":    c.emptyTrash,
	}
}

// maxTrashed is the maximum number of records in a list.
const maxTrashed = 10_000

// trash returns the newest records in the trash, newest first.
func (c handler) trash(r *http.Request) (any, error) {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 || limit > maxTrashed {
		return nil, errs.InvalidField("limit", errs.NotBetween, 1, maxTrashed)
	}
	ids, out := encode.NewIDCodec(c.Vault.Secrets), apitypes.TrashList{}
	query := vault.Query{Sort: vault.SortCreated, Descending: true}
	for len(out.Data) < limit {
		query.Limit = min(limit-len(out.Data), 500)
		page, err := c.Vault.Trash.List(r.Context(), query)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			out.Data = append(out.Data, trashItem(ids, item))
		}
		if query.Position = page.Next; page.Next == nil {
			break
		}
	}
	return out, nil
}

func (c handler) purgeable(r *http.Request) (any, error) {
	due, kept, err := c.Vault.Trash.Purgeable(r.Context())
	return apitypes.TrashPurgeable{Records: int64(due), Kept: int64(kept)}, err
}

func (c handler) trashed(r *http.Request) (any, error) {
	ids := encode.NewIDCodec(c.Vault.Secrets)
	recordType, id, err := trashRecord(ids, r.PathValue("record"))
	if err != nil {
		return nil, err
	}
	item, err := c.Vault.Trash.Find(r.Context(), recordType, id)
	return trashItem(ids, item), err
}

func (c handler) purge(r *http.Request) (any, error) {
	var asked apitypes.TrashPurge
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	recordType, id, err := trashRecord(encode.NewIDCodec(c.Vault.Secrets), asked.Record)
	if err != nil {
		return nil, err
	}
	done, err := c.Vault.Trash.Purge(r.Context(), operator(r), recordType, id, asked.Reason)
	return trashPurged(done), err
}

func (c handler) emptyTrash(r *http.Request) (any, error) {
	done, err := c.Vault.Trash.Empty(r.Context(), operator(r))
	return trashPurged(done), err
}

// trashRecord parses the name of a record in the form that commands use, like file:17 or order:Zz9aB31x.
func trashRecord(ids encode.IDCodec, text string) (recordType string, id uint64, err error) {
	recordType, number, _ := strings.Cut(ids.Decode(text), ":")
	id, err = strconv.ParseUint(number, 10, 63)
	if err != nil {
		return "", 0, errs.RecordNotFound("record in the trash", text)
	}
	return recordType, id, nil
}

func trashItem(ids encode.IDCodec, t vault.Trashed) apitypes.TrashItem {
	item := apitypes.TrashItem{
		Record: ids.Encode(fmt.Sprintf("%s:%d", t.Type, t.ID)), Kind: t.Type, Name: t.Heading, DeletedAt: apitypes.At(t.At),
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

func trashPurged(done vault.Purged) apitypes.TrashPurged {
	return apitypes.TrashPurged{Records: int64(done.Records), Documents: int64(done.Files), Kept: int64(done.Kept),
		FreedBytes: done.FreedBytes, Waits: done.Deferred}
}
