package records

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
	"deedkeep/app/vault/bulk"
)

// recordList is a type of record that a list can change many of at once.
type recordList struct {
	name, singular, plural string
	list                   string                      // address of the list
	filters                []string                    // names of its filters
	decode                 func(string) (uint64, bool) // returns the ID at the end of the address of a record
	matching               func(r *page.Request, asked url.Values) (ids []uint64, more bool, err error)
	set                    func(ctx context.Context, r *page.Request, id uint64) ([]vault.Edit, error)
	fields                 []string // those that the form can set
	take                   string   // the field that the button Take it sets to the user
	trash                  func(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
	heading                func(ctx context.Context, id uint64) (string, error)
}

// bulkTrash is the value of the button that moves records to the trash.
const bulkTrash = "trash"

func (p *Pages) bulkOrders() (orders recordList) {
	orders = recordList{
		name: vault.OrderOps.Name, singular: "order", plural: "orders", list: "/orders", filters: orderFilters,
		decode: p.IDs.Orders.Decode, fields: []string{"status", "due_date", "assignee"}, take: "assignee",
		matching: func(r *page.Request, asked url.Values) (ids []uint64, more bool, err error) {
			since, err := p.ordersNewSince(r)
			if err != nil {
				return nil, false, err
			}
			list, q := orderList{tableList: tableList{listing: askedListing(asked, "")}, visitor: r.Visitor.ID, since: since}, vault.Query{}
			list.applyFilters(&q, p.LocalNow())
			return matchingIDs(r.Context(), list.Problems, q, p.App.Orders.List, func(o model.Order) uint64 { return o.ID })
		},
		set: func(ctx context.Context, r *page.Request, id uint64) ([]vault.Edit, error) {
			return p.App.Orders.Edit(ctx, r.Actor, id, model.OrderPatch{Fields: p.typedInputs(r, orders.fields...)})
		},
		trash: p.App.Orders.Trash,
		heading: func(ctx context.Context, id uint64) (string, error) {
			o, err := p.App.Orders.Get(ctx, id)
			return o.Number, err
		},
	}
	return orders
}

func (p *Pages) bulkAbstracts() recordList {
	return recordList{
		name: vault.AbstractOps.Name, singular: "abstract", plural: "abstracts", list: "/abstracts", filters: abstractFilters,
		decode: p.IDs.Abstracts.Decode, fields: []string{"status", "searcher", "examiner", "due_date"}, take: "searcher",
		matching: func(r *page.Request, asked url.Values) (ids []uint64, more bool, err error) {
			list, q := abstractList{tableList: tableList{listing: askedListing(asked, "")}}, vault.Query{}
			list.applyFilters(&q, p.LocalNow())
			return matchingIDs(r.Context(), list.Problems, q, p.App.Abstracts.ListWithoutFiles, func(a model.Abstract) uint64 { return a.ID })
		},
		set: func(ctx context.Context, r *page.Request, id uint64) ([]vault.Edit, error) {
			return p.App.Abstracts.PatchAssigned(ctx, r.Actor, id, model.AbstractPatch{Fields: p.typedInputs(r, "status")},
				p.typedInputs(r, "searcher", "examiner", "due_date"))
		},
		trash: p.App.Abstracts.Trash,
		heading: func(ctx context.Context, id uint64) (string, error) {
			_, heading, err := p.App.Abstracts.WithHeading(ctx, id)
			return heading, err
		},
	}
}

// clearStatus is the form value that clears the status a user set, so that the server determines it again.
const clearStatus = "automatic"

func (p *Pages) bulkInstruments() recordList {
	fields := []string{"type", "status"}
	return recordList{
		name: vault.InstrumentType, singular: "instrument", plural: "instruments", list: "/instruments", filters: instrumentFilters,
		decode: func(text string) (uint64, bool) {
			id, err := strconv.ParseUint(text, 10, 63)
			return id, err == nil && id > 0
		},
		fields: fields,
		matching: func(r *page.Request, asked url.Values) (ids []uint64, more bool, err error) {
			list, q := instrumentList{tableList: tableList{listing: askedListing(asked, "")}}, vault.Query{}
			list.applyFilters(&q, p)
			certain := func(ctx context.Context, q vault.Query) (vault.Page[vault.InstrumentView], error) {
				found, err := p.App.Instruments.List(ctx, q)
				if asked.Has("status") { // the list also shows those whose status isn't known
					found.Items = slices.DeleteFunc(found.Items, func(i vault.InstrumentView) bool { return i.Status == "" })
				}
				return found, err
			}
			return matchingIDs(r.Context(), list.Problems, q, certain, func(i vault.InstrumentView) uint64 { return i.ID })
		},
		set: func(ctx context.Context, r *page.Request, id uint64) ([]vault.Edit, error) {
			in := p.typedInputs(r, fields...)
			if in["status"].Value == clearStatus {
				in["status"] = model.StringInput("")
			}
			return p.App.Instruments.Edit(ctx, r.Actor, id, in)
		},
		trash: p.App.Instruments.Trash,
		heading: func(ctx context.Context, id uint64) (string, error) {
			ref := model.RecordRef(vault.InstrumentType, id)
			names, err := p.App.Vault.Names(ctx, []string{ref})
			if err == nil && names[ref].Text == "" {
				err = errs.RecordNotFound(vault.InstrumentType, id)
			}
			return names[ref].Text, err
		},
	}
}

// typedInputs returns the fields of a form that have a value.
func (p *Pages) typedInputs(r *page.Request, names ...string) model.Inputs {
	in := model.Inputs{}
	for _, name := range names {
		value := strings.TrimSpace(r.PostForm.Get(name))
		if name == "due_date" {
			value = page.TypedDate(name, value, p.LocalNow())
		}
		if name == "assignee" && value != "" {
			maps.Copy(in, assigneeInput(value))
		} else if value != "" {
			in[name] = model.StringInput(value)
		}
	}
	return in
}

var errInvalidFilter = &errs.Error{Kind: errs.Invalid,
	Message: "A filter of the list is invalid. Nothing was changed. Correct it and try again."}

// matchingIDs returns the records on all pages of a list, or an error if problems has one of its filters. more reports whether
// there are more than bulk.Max.
func matchingIDs[T any](ctx context.Context, problems map[string]string, q vault.Query,
	list func(context.Context, vault.Query) (vault.Page[T], error), id func(T) uint64) (ids []uint64, more bool, err error) {
	if len(problems) > 0 {
		return nil, false, errInvalidFilter
	}
	q.Limit = 100
	for {
		found, err := list(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, record := range found.Items {
			ids = append(ids, id(record))
		}
		if q.Position = found.Next; found.Next == nil || len(ids) > bulk.Max {
			return ids, len(ids) > bulk.Max, nil
		}
	}
}

func (p *Pages) changeOrders(r *page.Request) error      { return p.changeMany(r, p.bulkOrders()) }
func (p *Pages) changeAbstracts(r *page.Request) error   { return p.changeMany(r, p.bulkAbstracts()) }
func (p *Pages) changeInstruments(r *page.Request) error { return p.changeMany(r, p.bulkInstruments()) }

// changeMany changes the selected records of a list, or all that match its filters, and shows the list again.
func (p *Pages) changeMany(r *page.Request, of recordList) error {
	back := page.ReturnAddress(r, of.list)
	trash, take := r.PostForm.Get("do") == bulkTrash, r.PostForm.Get("do") == bulkTake && of.take != ""
	if take {
		r.PostForm = url.Values{"id": r.PostForm["id"], "matching": r.PostForm["matching"],
			of.take: {strconv.FormatUint(r.Visitor.ID, 10)}}
	}
	ids, problem, err := of.selection(r, back)
	if err == nil && problem == "" && !trash && len(p.typedInputs(r, of.fields...)) == 0 {
		problem = "Choose what to change."
	}
	if err != nil {
		return err
	}
	if problem != "" {
		return p.RedirectWithFailure(r, back, problem)
	}
	list, err := bulk.Change(r.Context(), p.App.Vault, r.Actor, ids, func(ctx context.Context, id uint64) ([]vault.Edit, error) {
		if trash {
			return nil, of.trash(ctx, r.Actor, id, vault.Match{})
		}
		return of.set(ctx, r, id)
	}, vault.Idempotency[[]bulk.Changed]{})
	if err != nil {
		return err
	}
	undo, done := bulk.Done{Type: of.name}, "changed"
	for _, changed := range list {
		undo.Edits = append(undo.Edits, changed.Edits...)
		if trash && changed.Err == nil {
			undo.Trashed = append(undo.Trashed, changed.ID)
		}
	}
	switch {
	case trash:
		done = "moved to the trash"
	case take:
		done = "assigned to you"
	}
	return p.RedirectWithUndo(r, back, of.outcome(r.Context(), list, done)+p.awayNote(r), p.bulkUndo(r, undo))
}

// bulkUndo stores what is needed to undo a bulk change, and returns the address that does so. It returns "" if nothing
// changed.
func (p *Pages) bulkUndo(r *page.Request, done bulk.Done) string {
	if len(done.Edits)+len(done.Trashed) == 0 {
		return ""
	}
	token := rand.Text()
	done.By = r.ID
	if err := bulk.Store(r.Context(), p.App.Vault, bulkKey(token), done); err != nil {
		p.App.Log.Warn("can't store what undoes a bulk change", "error", err) // the records are changed already
		return ""
	}
	return page.UndoAddress("/undo/bulk", url.Values{"key": {token}})
}

// bulkKey returns the key under which what is needed to undo a bulk change is stored.
func bulkKey(token string) [32]byte { return sha256.Sum256([]byte("bulk " + token)) }

// selection returns the selected records, or why there are none to change.
func (l recordList) selection(r *page.Request, back string) (ids []uint64, problem string, err error) {
	if r.PostForm.Get("matching") != "" {
		from, err := url.Parse(back)
		if err != nil {
			return nil, "", err
		}
		asked, sent := url.Values{}, from.Query()
		for _, name := range l.filters {
			if value := sent.Get(name); value != "" {
				asked.Set(name, value)
			}
		}
		if asked.Has("q") {
			return nil, "Select the " + l.plural + " of a search one by one.", nil
		}
		ids, more, err := l.matching(r, asked)
		if errors.Is(err, errInvalidFilter) {
			return nil, page.ErrorSentence(err), nil
		}
		if more {
			problem = fmt.Sprintf("More than %s %s match. Add a filter.", page.FormatCount(bulk.Max), l.plural)
		}
		return ids, problem, err
	}
	for _, text := range r.PostForm["id"] {
		if id, ok := l.decode(strings.TrimPrefix(text, l.list+"/")); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	switch {
	case len(ids) == 0:
		problem = "No " + l.plural + " were selected."
	case len(ids) > bulk.Max:
		problem = fmt.Sprintf("Select at most %s %s at a time.", page.FormatCount(bulk.Max), l.plural)
	}
	return ids, problem, nil
}

// maxReasons is how many records that weren't changed a notice names.
const maxReasons = 3

// outcome says how many records were changed, and which ones weren't, with reasons.
func (l recordList) outcome(ctx context.Context, list []bulk.Changed, done string) string {
	failed := slices.DeleteFunc(slices.Clone(list), func(c bulk.Changed) bool { return c.Err == nil })
	text := page.Plural(len(list)-len(failed), l.singular, l.plural) + " " + done + "."
	for n, c := range failed {
		if n == maxReasons {
			return text + fmt.Sprintf(" %s more failed.", page.FormatCount(len(failed)-n))
		}
		name, err := l.heading(ctx, c.ID)
		if err != nil {
			name = "One " + l.singular
		} else {
			name = "“" + name + "”"
		}
		text += " " + name + " failed: " + page.ErrorSentence(c.Err)
	}
	return text
}

// undoMany undoes a bulk change.
func (p *Pages) undoMany(r *page.Request) error {
	recordType, list, err := bulk.Undo(r.Context(), p.App.Vault, r.Actor, bulkKey(r.PostForm.Get("key")))
	if errs.KindOf(err) == errs.Conflict {
		return p.RedirectWithFailure(r, page.ReturnAddress(r, "/"), page.ErrorSentence(err))
	}
	if err != nil {
		return err
	}
	of := p.bulkOrders()
	switch recordType {
	case vault.AbstractOps.Name:
		of = p.bulkAbstracts()
	case vault.InstrumentType:
		of = p.bulkInstruments()
	case vault.FileOps.Name:
		of = recordList{singular: "document", plural: "documents", list: "/vault", heading: func(ctx context.Context, id uint64) (string, error) {
			file, err := p.App.Files.Get(ctx, id)
			return file.Filename, err
		}}
	}
	to, outcome := page.ReturnAddress(r, of.list), of.outcome(r.Context(), list, "reverted")
	if !slices.ContainsFunc(list, func(c bulk.Changed) bool { return c.Err == nil }) {
		return p.RedirectWithFailure(r, to, outcome)
	}
	return p.RedirectWithNotice(r, to, outcome)
}
