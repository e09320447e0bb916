package records

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// maxSelected is the maximum number of documents that one form can select.
const maxSelected = 1000

// selectedDocuments returns the IDs of the documents selected in a form.
func selectedDocuments(r *page.Request) ([]uint64, error) {
	var ids []uint64
	for _, text := range r.PostForm["file"] {
		id, err := strconv.ParseUint(text, 10, 63)
		if err != nil || id == 0 {
			return nil, errs.InvalidField("file", "Select documents from the list.")
		}
		ids = append(ids, id)
	}
	if len(ids) > maxSelected {
		return nil, errs.InvalidField("file", "Select at most %s at a time.", page.FormatCount(maxSelected))
	}
	return ids, nil
}

// moveDocuments moves the selected documents to a folder.
func (p *Pages) moveDocuments(r *page.Request) error {
	ids, err := selectedDocuments(r)
	if err != nil {
		return err
	}
	to, err := formFolderID(r, "to")
	if err != nil {
		return err
	}
	address := page.ReturnAddress(r, "/vault")
	switch {
	case len(ids) == 0:
		return p.RedirectWithNotice(r, address, "No documents were selected.")
	case r.PostForm.Get("to") == "":
		return p.RedirectWithNotice(r, address, "Select a folder to move the documents to.")
	}
	if _, undoing := r.PostForm["from"]; undoing {
		from, err := formFolderID(r, "from")
		if err != nil {
			return err
		}
		moved, skipped, err := p.Vault.Files.MoveBack(r.Context(), r.Actor, ids, from, to)
		if err != nil {
			return err
		}
		return p.RedirectWithNotice(r, address, bulkNotice(moved, skipped, "moved back"))
	}
	undo, err := p.moveUndoAddress(r.Context(), ids, to)
	if err != nil {
		return err
	}
	moved, skipped, err := p.Vault.Files.Move(r.Context(), r.Actor, ids, to)
	if err != nil {
		return err
	}
	return p.RedirectWithUndo(r, address, bulkNotice(moved, skipped, "moved"), undo)
}

// moveUndoAddress returns the undo address for moving documents from their current folder to folder
// to. It returns "" if the documents are in several folders; no page shows such a selection.
func (p *Pages) moveUndoAddress(ctx context.Context, ids []uint64, to uint64) (undo string, err error) {
	var moved []string
	var from uint64
	for _, id := range ids {
		file, err := p.Vault.Files.Get(ctx, id)
		switch {
		case errs.KindOf(err) == errs.NotFound:
			continue
		case err != nil:
			return "", err
		case file.AbstractID != 0 || file.FolderID == to:
			continue
		case len(moved) > 0 && file.FolderID != from:
			return "", nil
		}
		from = file.FolderID
		moved = append(moved, strconv.FormatUint(id, 10))
	}
	if len(moved) == 0 {
		return "", nil
	}
	folder := func(id uint64) []string { return []string{strconv.FormatUint(id, 10)} }
	return page.UndoAddress("/documents/move", url.Values{"file": moved, "from": folder(to), "to": folder(from)}), nil
}

// trashDocuments moves the selected documents to the trash.
func (p *Pages) trashDocuments(r *page.Request) error {
	ids, err := selectedDocuments(r)
	if err != nil {
		return err
	}
	address := page.ReturnAddress(r, "/vault")
	if len(ids) == 0 {
		return p.RedirectWithNotice(r, address, "No documents were selected.")
	}
	trashed, skipped, err := p.Vault.Files.TrashMany(r.Context(), r.Actor, ids)
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, address, bulkNotice(trashed, skipped, "moved to the trash"))
}

// bulkNotice says how many documents were changed and which ones were skipped, with reasons.
func bulkNotice(n int, skipped []vault.Skipped, action string) string {
	var b strings.Builder
	if n > 0 || len(skipped) == 0 {
		verb := "were"
		if n == 1 {
			verb = "was"
		}
		fmt.Fprintf(&b, "%s %s %s. ", page.Plural(n, "document", "documents"), verb, action)
	}
	for _, skip := range skipped {
		name := skip.File.Filename
		if name == "" {
			name = fmt.Sprintf("document %d", skip.File.ID)
		}
		fmt.Fprintf(&b, "“%s” was skipped: %s ", name, skip.Reason)
	}
	return strings.TrimSpace(b.String())
}
