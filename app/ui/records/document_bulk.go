package records

import (
	"fmt"
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
	compact, ok := parseIDs(r.PostForm.Get("files"))
	if !ok {
		return nil, errs.InvalidField("file", "Select documents from the list.")
	}
	ids = append(ids, compact...)
	if len(ids) > maxSelected {
		return nil, errs.InvalidField("file", "Select at most %s at a time.", page.FormatCount(maxSelected))
	}
	return ids, nil
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
