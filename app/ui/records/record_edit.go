package records

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// mergedForm is a submitted field group, merged with the stored values.
type mergedForm struct {
	group   fieldGroup
	changes map[string][]string // new values by field name
	kept    []page.Input        // fields that another user changed and this user didn't
}

// recordEdit contains an abstract or order that is being edited, and the functions that differ
// between the two types.
type recordEdit struct {
	recordView
	showForm func(status int, g fieldGroup) error // shows a page that has the form with the submitted values
	// save stores the changes and returns the new version. It fails if the record's version is no longer the one that was
	// read.
	save func(ctx context.Context, sent map[string][]string) (version uint64, saved showSaved, err error)
}

// showSaved renders the parts of a page that changed, after show has set the group that was saved.
type showSaved func(show func(*recordView)) error

// saveGroup saves a field group. If other users changed fields that this form doesn't change, their
// values are kept. If both changed the same field, the form is shown again with both values, and
// the user has to choose.
func (p *Pages) saveGroup(r *page.Request, recordType string, read func() (recordEdit, error)) error {
	return vault.RetryEdit(func() error {
		record, err := read()
		if err != nil {
			return err
		}
		e := mergeForm(record.Group(r.PostForm.Get("group")), r.PostForm, page.Fingerprint, p.LocalNow())
		if e.group.Name == "" {
			return page.NotFound(r)
		}
		if e.group.Conflict {
			log, err := p.LatestEvents(r.Context(), recordType, r.PathID)
			if err != nil {
				return err
			}
			for i := range e.group.Fields {
				in := &e.group.Fields[i]
				in.DescribeConflict(log, p.Zone(), in.Name)
			}
			e.group.focus()
			return p.showGroupForm(r, http.StatusPreconditionFailed, recordType, record, e.group)
		}
		if old := page.EarlyDateProblems(e.group.Fields, e.changes); len(old) > 0 {
			e.group.setProblems(old)
			return p.showGroupForm(r, http.StatusUnprocessableEntity, recordType, record, e.group)
		}
		version, saved, err := record.save(r.Context(), e.changes)
		domainErr, ok := errors.AsType[*errs.Error](err)
		switch {
		case ok && domainErr.Kind == errs.Invalid:
			e.group.setProblems(page.FieldProblems(domainErr.Fields))
			return p.showGroupForm(r, http.StatusUnprocessableEntity, recordType, record, e.group)
		case err != nil:
			return err
		}
		notice, err := p.alsoChangedNotice(r, recordType, e.kept)
		if err != nil {
			return err
		}
		notice = strings.TrimSpace("Saved. " + notice)
		undo := p.EditUndo(r, vault.Edit{Type: recordType, ID: r.PathID, Version: version}, e.group.Version)
		if !r.IsPart() {
			return p.RedirectWithUndo(r, record.Path+"#group-"+e.group.Name, notice, undo)
		}
		return saved(func(v *recordView) { p.setSaved(r, v, e.group.Name, notice, undo) })
	})
}

// showGroupForm shows the form of a field group with the submitted values.
func (p *Pages) showGroupForm(r *page.Request, status int, recordType string, record recordEdit, g fieldGroup) error {
	if r.IsPart() {
		return p.RenderPart(r, status, recordType+".html", "group", g)
	}
	return record.showForm(status, g)
}

// undoEdit undoes a change of a record, and returns to the page that offered that.
func (p *Pages) undoEdit(r *page.Request) error {
	recordType, id, err := page.SplitRecordName(p.ParseRecordName(r.PostForm.Get("record")))
	was, versionErr := strconv.ParseUint(r.PostForm.Get("version"), 10, 63)
	if err != nil || versionErr != nil {
		return page.NotFound(r)
	}
	e := vault.Edit{Type: recordType, ID: id, Part: r.PostForm.Get("part"), Version: was}
	e.Version, err = p.App.UndoEdit(r.Context(), r.Actor, e)
	switch {
	case errs.KindOf(err) == errs.PreconditionFailed:
		return cmp.Or(p.CheckUnchanged(r, recordType, id, "changed"), err)
	case err != nil:
		return err
	}
	back, of := page.ReturnAddress(r, p.RecordPath(recordType, id)), ""
	if !p.showsRecord(back, recordType, id) {
		record := model.RecordRef(recordType, id)
		names, err := p.App.Names(r.Context(), []string{record})
		if err != nil {
			return err
		}
		of = " of “" + names[record].Text + "”"
	}
	done := "undone"
	if !r.Undoes {
		done = "repeated"
	}
	return p.Follow(r, back, "Change"+of+" "+done+".", p.EditUndo(r, e, was))
}

// showsRecord reports whether a page is that of a record or of one that it is a part of.
func (p *Pages) showsRecord(address, recordType string, id uint64) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if vault.AbstractOps.Name == recordType || vault.OrderOps.Name == recordType {
		return page.IsUnderPath(u.Path, p.RecordPath(recordType, id))
	}
	return strings.Count(u.Path, "/") > 1 // a page of any record
}

// setSaved marks a field group as saved. undo is the address that undoes that.
func (p *Pages) setSaved(r *page.Request, v *recordView, name, notice, undo string) {
	for i := range v.Groups {
		v.Groups[i].Focus = v.Groups[i].Name == name
	}
	v.Saved = v.Group(name)
	v.Saved.Notice = p.NewNotice(r, notice, undo, v.Path+"#group-"+name)
}

// mergeForm compares a form with the stored values, field by field. by computes the fingerprint of
// a field's values; a field counts as unchanged if the fingerprint is the same as when the form was
// rendered.
func mergeForm(g fieldGroup, form url.Values, by page.FingerprintFunc, now time.Time) mergedForm {
	e := mergedForm{group: g, changes: map[string][]string{}}
	e.group.Fields, e.group.Editing = slices.Clone(g.Fields), true
	stale := form.Get("version") != "" && form.Get("version") != strconv.FormatUint(g.Version, 10)
	for i := range e.group.Fields {
		in := &e.group.Fields[i]
		values, there := form[in.Name]
		if !there {
			continue
		}
		mine := page.SubmittedValues(in.Type, in.Name, values, now)
		changed, kept := in.Merge(form, in.Was, by(in.Type, mine), page.FormatValues(in.Type, in.Values), stale)
		switch {
		case kept:
			e.kept = append(e.kept, *in)
		case in.Clash:
			e.group.Conflict, in.Values = true, mine
		case changed:
			in.Values, e.changes[in.Name] = mine, mine
		}
		in.AddOptions(in.Values)
	}
	return e
}

// setProblems sets the problem of each field. The first field with a problem gets the focus.
func (g *fieldGroup) setProblems(rejected map[string]string) {
	for i := range g.Fields {
		g.Fields[i].Problem = rejected[g.Fields[i].Name]
	}
	g.focus()
}

// focus moves the focus to the first field with a problem or a conflict.
func (g *fieldGroup) focus() {
	first := slices.IndexFunc(g.Fields, func(in page.Input) bool { return in.Invalid() || in.Clash })
	for i := range g.Fields {
		g.Fields[i].Focus = i == first
	}
}

// alsoChangedNotice lists the fields that other users changed in the meantime, and the names of
// those users.
func (p *Pages) alsoChangedNotice(r *page.Request, recordType string, kept []page.Input) (string, error) {
	if len(kept) == 0 {
		return "", nil
	}
	log, err := p.LatestEvents(r.Context(), recordType, r.PathID)
	if err != nil {
		return "", err
	}
	var labels, names []string
	for _, in := range kept {
		labels = append(labels, in.Label)
		if at := page.LastChange(log, in.Name); at >= 0 && !slices.Contains(names, page.ActorInSentence(log[at].Actor)) {
			names = append(names, page.ActorInSentence(log[at].Actor))
		}
	}
	notice := "Also changed while you were editing: " + strings.Join(labels, ", ")
	if len(names) > 0 {
		notice += " (by " + strings.Join(names, ", ") + ")"
	}
	return notice + ".", nil
}

// setFingerprints sets the fingerprint of each field's current values. by computes a fingerprint.
func (g *fieldGroup) setFingerprints(by page.FingerprintFunc) {
	for i := range g.Fields {
		g.Fields[i].Was = by(g.Fields[i].Type, g.Fields[i].UnchangedValues())
	}
}
