package ui

import (
	"net/http"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// deskView is the first page: what wants doing, and what came of the work.
type deskView struct {
	vault.Desk
	Warnings []warning
	DueDays  int    // how far ahead it looks
	New      bool   // nothing is stored yet
	MayRetry bool   // one of those whose processing failed may do better
	Steps    []step // to begin with, on a new vault
}

// latest are the documents that came last.
type latest []vault.Document

// Busy reports whether one of them is being processed: the list comes anew then.
func (l latest) Busy() bool {
	return slices.ContainsFunc(l, func(d vault.Document) bool { return d.Processing })
}

// Latest is in the place of the desk's own.
func (v deskView) Latest() latest { return v.Desk.Latest }

// step is one thing to do on a new vault.
type step struct {
	Done             bool
	Text, Hint, Path string
	Button           string
}

// today is the day in the office's time zone, as the calendar on its wall has it.
func (p *pages) today() string { return p.now().Format(time.DateOnly) }

// desk is the first page: what needs attention.
func (p *pages) desk(w http.ResponseWriter, r *http.Request, who visitor) error {
	d, err := p.Vault.Desk(r.Context(), p.today())
	if err != nil {
		return err
	}
	view := deskView{Desk: d, DueDays: vault.DueDays, New: d.Status.Abstracts+d.Status.Orders+d.Status.Files == 0}
	view.Warnings = deskWarnings(d, who, p.now())
	view.MayRetry = slices.ContainsFunc(d.Failed, func(f vault.Document) bool { return f.Retryable() })
	if view.New {
		if view.Steps, err = p.steps(r, who, d); err != nil {
			return err
		}
	}
	return p.show(w, r, who, http.StatusOK, "desk.html", page{Heading: "Desk", Section: "desk", Data: view})
}

// deskLatest is the part of the desk that a script asks for again while one of the
// latest documents is being processed.
func (p *pages) deskLatest(w http.ResponseWriter, r *http.Request, who visitor) error {
	if !isPart(r) {
		redirect(w, r, "/")
		return nil
	}
	list, err := p.Vault.Latest(r.Context())
	if err != nil {
		return err
	}
	return p.part(w, r, who, http.StatusOK, "desk.html", "latest", latest(list))
}

// deskWarnings are those for administrators, and for the others what keeps them from
// their work.
func deskWarnings(d vault.Desk, who visitor, now time.Time) []warning {
	const tell = " Please tell whoever runs this service."
	switch {
	case who.MayAdminister():
		return warningsOf(vault.Health{Status: d.Status, Backup: d.Backup, LowDisk: d.LowDisk}, now)
	case d.Status.ReadOnly:
		return []warning{{Text: "Nothing can be changed just now, since the disk failed to keep something." + tell}}
	case d.Status.Denied != nil && errs.KindOf(d.Status.Denied) != errs.InsufficientStorage:
		return []warning{{Text: deniedText(d.Status.Denied) + tell}}
	case d.Status.DiskFree <= d.Status.DiskReserve:
		return []warning{{Text: "The disk is full: no document can be filed." + tell}}
	}
	return nil
}

// steps are what the visitor can do first.
func (p *pages) steps(r *http.Request, who visitor, d vault.Desk) (list []step, err error) {
	if !who.MayWrite() {
		return nil, nil
	}
	list = []step{{Text: "Make the first abstract", Hint: "One search of one property, with all its documents.", Path: "/abstracts/new", Button: "New abstract"}}
	if !who.MayAdminister() {
		return append(list,
			step{Text: "Enter an order", Hint: "Most come from your other software by themselves; one can be typed in, too.", Path: "/orders/new", Button: "New order"},
			step{Text: "File a document", Hint: "Starters, plats and bulletins have their place in the vault's folders.", Path: "/vault", Button: "Open the vault"}), nil
	}
	keys, err := p.Vault.Keys.List(r.Context())
	if err != nil {
		return nil, err
	}
	live := false
	for _, k := range keys {
		live = live || k.Active(p.Now())
	}
	people, err := p.Vault.Users.List(r.Context())
	return append(list,
		step{Text: "Let your other software in", Hint: "It sends orders, abstracts and documents with an API key.", Path: "/admin/keys/new", Button: "Issue a key", Done: live},
		step{Text: "Say where backups go", Hint: "Another disk, or a share: the settings backup.to and backup.every make one by themselves.", Path: "/admin/backups", Button: "See backups", Done: d.Backup.Next != nil},
		step{Text: "Let the others in", Hint: "Each gets a link to choose a password, and a role.", Path: "/admin/users/new", Button: "Invite somebody", Done: len(people) > 1}), err
}

// retryAll has all documents processed again whose processing failed.
func (p *pages) retryAll(w http.ResponseWriter, r *http.Request, who visitor) error {
	n, err := p.Vault.Files.Retry(r.Context(), who.Actor, 0)
	if err != nil {
		return err
	}
	return p.see(w, r, back(r, "/"), plural(n, "document is", "documents are")+" processed again.")
}

// late is in how many days an order is due, or was: a word for the eye and one of the
// classes of badges; "" when it is finished or has no date.
type late struct{ Word, Tone string }

func (p *pages) late(o model.Order) late { return lateness(o, p.today()) }

// daysBetween counts the days from one midnight to another. A Duration would hold no
// more than 292 years of them.
func daysBetween(from, to time.Time) int { return int((to.Unix() - from.Unix()) / (24 * 60 * 60)) }

func lateness(o model.Order, today string) late {
	due, err := time.Parse(time.DateOnly, o.DueDate)
	now, err2 := time.Parse(time.DateOnly, today)
	if err != nil || err2 != nil || !o.IsOpen() {
		return late{}
	}
	switch days := daysBetween(now, due); {
	case days < 0:
		return late{plural(-days, "day", "days") + " overdue", "bad"}
	case days == 0:
		return late{"Due today", "warn"}
	case days == 1:
		return late{"Due tomorrow", "warn"}
	case days <= vault.DueDays:
		return late{"Due in " + plural(days, "day", "days"), ""}
	}
	return late{}
}
