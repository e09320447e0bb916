package records

import (
	"net/http"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

// dashboardView is the template data of the dashboard.
type dashboardView struct {
	instance.Dashboard
	Warnings []page.Warning
	DueDays  int         // number of days ahead for which due orders are shown
	New      bool        // the vault is empty
	MayRetry bool        // the visitor may retry processing failed documents
	Steps    []setupStep // setup steps shown while the vault is empty
	MyWork   titlework.MyWork

	Mine                     *deskOrders // nil for visitors to whom orders can't be assigned
	OverdueOrders, DueOrders deskOrders
	Unassigned, NewOrders    *deskOrders
}

// latestDocuments contains the most recently uploaded documents.
type latestDocuments []vault.Document

// Busy reports whether any of the documents is still being processed, so that the list must be
// refreshed.
func (l latestDocuments) Busy() bool {
	return slices.ContainsFunc(l, func(d vault.Document) bool { return d.Processing })
}

// Latest returns the documents of Dashboard.Latest with the Busy method added.
func (v dashboardView) Latest() latestDocuments { return v.Dashboard.Latest }

// setupStep is a step in setting up a new vault.
type setupStep struct {
	Done             bool
	Text, Hint, Path string
	Button           string
}

// dashboardPage shows the dashboard.
func (p *Pages) dashboardPage(r *page.Request) error {
	switch start, err := p.startAddress(r); {
	case err != nil:
		return err
	case start != "":
		return r.Redirect(start)
	}
	d, err := p.App.Dashboard(r.Context(), p.Today())
	if err != nil {
		return err
	}
	view := dashboardView{Dashboard: d, DueDays: instance.DueDays, New: d.Status.Abstracts+d.Status.Orders+d.Status.Files == 0}
	view.Warnings = dashboardWarnings(d, r.Visitor, p.LocalNow())
	view.MayRetry = slices.ContainsFunc(d.Failed, func(f vault.Document) bool { return f.Retryable() })
	if view.MyWork, err = titlework.LoadMyWork(r.Context(), p.Site, r.Visitor, titlework.DeskRows); err != nil {
		return err
	}
	if err := p.addOrders(r, &view); err != nil {
		return err
	}
	if view.New {
		if view.Steps, err = p.setupSteps(r, d); err != nil {
			return err
		}
	}
	return p.RenderPage(r, http.StatusOK, "desk.html", page.Page{Heading: "Desk", Section: "desk", Data: view,
		Follows: []string{"order", "abstract", "file"}})
}

// latestDocumentsPart renders the list of newest documents. A script requests it repeatedly while
// one of them is being processed.
func (p *Pages) latestDocumentsPart(r *page.Request) error {
	if !r.IsPart() {
		return r.Redirect("/")
	}
	steps, err := p.App.LatestDocuments(r.Context())
	if err != nil {
		return err
	}
	return p.RenderPart(r, http.StatusOK, "desk.html", "latest", latestDocuments(steps))
}

// dashboardWarnings returns the warnings for a visitor. Administrators see all warnings. Other
// users see only problems that keep them from working.
func dashboardWarnings(d instance.Dashboard, visitor page.Visitor, now time.Time) []page.Warning {
	const contact = " Contact your administrator."
	switch {
	case visitor.MayAdminister():
		return page.HealthWarnings(instance.Health{Status: d.Status, Backup: d.Backup, LowDisk: d.LowDisk}, now)
	case d.Status.ReadOnly:
		return []page.Warning{{Text: "deedkeep is read-only because of a disk error." + contact}}
	case d.Status.Denied != nil && errs.KindOf(d.Status.Denied) != errs.InsufficientStorage:
		return []page.Warning{{Text: page.DeniedReason(d.Status.Denied) + contact}}
	case d.Status.DiskFree <= d.Status.DiskReserve:
		return []page.Warning{{Text: "The disk is full. Documents can't be uploaded." + contact}}
	case d.Status.Room.Limited:
		return []page.Warning{{Text: "The disk is nearly full. " + page.StillWorks(d.Status) + contact}}
	}
	return nil
}

// setupSteps returns the setup steps that the visitor is allowed to do.
func (p *Pages) setupSteps(r *page.Request, d instance.Dashboard) (steps []setupStep, err error) {
	if !r.MayWrite() {
		return nil, nil
	}
	steps = []setupStep{
		{Text: "Enter an order", Hint: "Orders usually arrive from your title software. You can also enter one here.",
			Path: "/orders/new", Button: "New order"},
		{Text: "Create your first abstract", Hint: "One title search of one property, with its documents.",
			Path: "/abstracts/new", Button: "New abstract"},
	}
	if !r.MayAdminister() {
		return append(steps,
			setupStep{Text: "Upload a document", Hint: "Store starters, plats, and bulletins in the folders of the Vault.",
				Path: "/vault", Button: "Open Vault"}), nil
	}
	keys, err := p.App.Keys.List(r.Context())
	if err != nil {
		return nil, err
	}
	active := false
	for _, k := range keys {
		active = active || k.Active(p.Now())
	}
	people, err := p.App.Users.List(r.Context())
	return append(steps,
		setupStep{Text: "Connect your title software", Hint: "It sends orders, abstracts, and documents with an API key.",
			Path: "/admin/keys/new", Button: "Create API key", Done: active},
		setupStep{Text: "Set up backups", Hint: "Back up to another disk or a network share on a schedule.",
			Path: "/admin/backups", Button: "Backup settings", Done: d.Backup.Next != nil},
		setupStep{Text: "Invite your team", Hint: "Each person gets a role and a link to choose a password.",
			Path: "/admin/users/new", Button: "Invite user", Done: len(people) > 1}), err
}

// retryFailedDocuments retries the processing of all failed documents.
func (p *Pages) retryFailedDocuments(r *page.Request) error {
	n, err := p.App.Processing.Retry(r.Context(), r.Actor, 0)
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, page.ReturnAddress(r, "/"), "Reprocessing "+page.Plural(n, "document", "documents")+".")
}
