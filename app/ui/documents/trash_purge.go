package documents

import (
	"net/http"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
	"deedkeep/app/vault/purge"
)

// Addresses of the pages that delete records permanently.
const (
	purgePath = "/admin/trash/purge"
	emptyPath = "/admin/trash/empty"
)

// emptyConfirmation is the text that the user must type to empty the trash.
const emptyConfirmation = "empty trash"

// purgeForm is the template data of the form that deletes a record permanently.
type purgeForm struct {
	vault.Trashed
	Item, Label, Who, Asked, Typed, Reason string
	UnderRetention                         bool
	Problems                               map[string]string
}

func (p *Pages) purgePage(r *page.Request) error {
	form, err := p.newPurgeForm(r, r.URL.Query().Get("item"))
	if err != nil {
		return err
	}
	return p.showPurge(r, http.StatusOK, form)
}

func (p *Pages) showPurge(r *page.Request, status int, form purgeForm) error {
	return p.RenderPage(r, status, "trash-purge.html", page.Page{Heading: "Delete permanently", Section: "trash", Data: form})
}

// newPurgeForm reads the record that the form refers to.
func (p *Pages) newPurgeForm(r *page.Request, item string) (form purgeForm, err error) {
	recordType, id, err := page.SplitRecordName(p.ParseRecordName(item))
	if err != nil {
		return form, err
	}
	form.Item = item
	if form.Trashed, err = p.App.Trash.Find(r.Context(), recordType, id); err != nil {
		return form, err
	}
	form.Label, form.Who, form.UnderRetention = trashLabel(recordType), page.ActorText(form.By), p.Now().Before(form.RetainedUntil)
	// If the record's name consists only of spaces, the user types "delete" instead.
	if form.Asked = strings.Join(strings.Fields(form.Heading), " "); form.Asked == "" {
		form.Asked = "delete"
	}
	return form, nil
}

// purgeRecord deletes a record permanently if the user typed the record's name.
func (p *Pages) purgeRecord(r *page.Request) error {
	form, err := p.newPurgeForm(r, r.PostForm.Get("item"))
	if errs.KindOf(err) == errs.NotFound {
		return p.showTrash(r, http.StatusConflict, []string{"This is no longer in the trash. Someone restored or deleted it."})
	}
	if err != nil {
		return err
	}
	form.Typed, form.Reason, form.Problems = r.PostForm.Get("confirm"), strings.TrimSpace(r.PostForm.Get("reason")), map[string]string{}
	if !model.ConfirmationMatches(form.Typed, form.Asked) {
		form.Problems["confirm"] = "The text does not match. Nothing was deleted."
	}
	if form.UnderRetention && form.Reason == "" {
		form.Problems["reason"] = "Enter the reason. The audit log keeps it."
	}
	if len(form.Problems) > 0 {
		return p.showPurge(r, http.StatusUnprocessableEntity, form)
	}
	done, err := p.App.Purger.Purge(r.Context(), r.Actor, form.Type, form.ID, form.Reason)
	status, problems := page.FormProblems(err)
	if errs.KindOf(err) == errs.NotFound {
		status, problems = http.StatusConflict, map[string]string{"": page.ErrorSentence(err)}
	}
	if problems != nil {
		form.Problems = problems
		return p.showPurge(r, status, form)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, "/trash", purgeNotice(done))
}

// emptyForm is the template data of the form that empties the trash.
type emptyForm struct {
	Due, Kept      int
	Asked, Problem string
}

func (p *Pages) emptyTrashPage(r *page.Request) error {
	return p.showEmpty(r, http.StatusOK, "")
}

func (p *Pages) showEmpty(r *page.Request, status int, problem string) error {
	due, kept, err := p.App.Purger.Purgeable(r.Context())
	if err != nil {
		return err
	}
	return p.RenderPage(r, status, "trash-empty.html", page.Page{
		Heading: "Empty trash", Section: "trash", Data: emptyForm{due, kept, emptyConfirmation, problem},
	})
}

func (p *Pages) emptyTrash(r *page.Request) error {
	if !model.ConfirmationMatches(r.PostForm.Get("confirm"), emptyConfirmation) {
		return p.showEmpty(r, http.StatusUnprocessableEntity, "The text does not match. Nothing was deleted.")
	}
	done, err := p.App.Purger.Empty(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, "/trash", purgeNotice(done))
}

// purgeNotice says how many records were deleted. The number includes the documents of deleted
// abstracts.
func purgeNotice(done purge.Result) string {
	notice := "Permanently deleted " + page.Plural(done.Records, "record", "records")
	if done.Files > 0 {
		notice += ", including " + page.Plural(done.Files, "document", "documents")
	}
	if done.FreedBytes > 0 {
		notice += ". " + page.FormatSize(done.FreedBytes) + " freed"
	}
	if done.Deferred {
		notice += ". The server frees the rest of the space after the backup"
	}
	return notice + "."
}
