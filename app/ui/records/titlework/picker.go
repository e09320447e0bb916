package titlework

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// pickerRows is the maximum number of records that a picker shows.
const pickerRows = 12

// picker is the template data of a page on which the user finds a record and links it.
type picker struct {
	Back, Name string // address and heading of the record that the picked one is linked to
	Path       string // address of the picker
	Lead       string // what happens
	Field      string // name of the form field with the ID of the picked record
	Label      string // label of the text field
	Text       string
	Results    []pick
	Guessed    bool // no text: the results are records of the same property
}

// pick is a record that can be picked.
type pick struct {
	search.Hit
	Value string // opaque ID
	Path  string
	Note  string
}

// FindRecords returns the records of a type, abstracts or orders, that match a text: first those
// with a number, parcel, or address that starts with it, then those that contain its words. It finds
// numbers even while the search index is unavailable.
func FindRecords(p *page.Site, r *page.Request, kind, text string, limit int) ([]search.Hit, error) {
	text = search.TrimText(strings.ToValidUTF8(text, ""))
	known, err := p.App.Search.Find(r.Context(), text, vault.MaxFound)
	if err != nil {
		return nil, err
	}
	hits := known.ByKind(kind).Hits
	if len(hits) >= limit || page.TooShortToSearch(text) {
		return hits[:min(len(hits), limit)], nil
	}
	found, err := p.App.Search.Records(r.Context(), r.Actor, search.Query{Text: text, Kind: kind, Limit: limit, SkipCounts: true})
	if k := errs.KindOf(err); err != nil && k != errs.Unavailable && k != errs.Invalid {
		return nil, err
	}
	seen := map[uint64]bool{}
	for _, hit := range hits {
		seen[hit.ID] = true
	}
	for _, hit := range found.Items {
		if !seen[hit.ID] && len(hits) < limit {
			hits = append(hits, hit)
		}
	}
	return hits, nil
}

func (p *Pages) showPicker(r *page.Request, heading, section string, view picker) error {
	if r.IsPart() {
		return p.RenderPart(r, http.StatusOK, "picker.html", "picks", view)
	}
	return p.RenderPage(r, http.StatusOK, "picker.html", page.Page{Heading: heading, Section: section, Data: view,
		Styles: []string{"record.css"}})
}

// orderPicker serves the page on which the user finds the order of an abstract.
func (p *Pages) orderPicker(r *page.Request) error {
	if err := page.CheckAccess(r.Visitor, page.MayWrite); err != nil {
		return err
	}
	s, err := p.read(r)
	if err != nil {
		return err
	}
	view := picker{Back: s.path, Name: p.App.Heading(s.abstract, s.template), Path: s.path + "/order-link", Field: "order",
		Lead: "The abstract shows this order with its client and due date.", Label: "Order number, Parcel ID, address, or name",
		Text: strings.TrimSpace(r.URL.Query().Get("q"))}
	var hits []search.Hit
	if view.Guessed = view.Text == ""; view.Guessed {
		related, err := p.App.Search.RelatedToAbstract(r.Context(), s.abstract)
		if err != nil {
			return err
		}
		hits = related.ByKind("order").Hits
	} else if hits, err = FindRecords(p.Site, r, "order", view.Text, pickerRows); err != nil {
		return err
	}
	for _, hit := range hits {
		one := pick{Hit: hit, Value: p.IDs.Orders.Encode(hit.ID), Path: p.OrderPath(hit.ID)}
		if hit.ID == s.work.OrderID {
			one.Note = "Currently linked"
		}
		view.Results = append(view.Results, one)
	}
	return p.showPicker(r, "Link an order", "abstracts", view)
}

// linkOrder links an abstract to an order, or unlinks it if the form contains no order.
func (p *Pages) linkOrder(r *page.Request) error {
	var order uint64
	opaque := r.PostForm.Get("order")
	if opaque != "" {
		var ok bool
		if order, ok = p.IDs.Orders.Decode(opaque); !ok {
			return errs.InvalidField("order_id", "Select an order from the list.")
		}
	}
	s, err := p.read(r)
	if err != nil {
		return err
	}
	work, err := p.App.TitleWork.SetOrder(r.Context(), r.Actor, s.abstract.ID, order, match(r))
	if err != nil {
		return err
	}
	undo := p.linkUndo(s.work, work)
	notice := "Order unlinked."
	if order != 0 {
		linked, err := p.App.Orders.Get(r.Context(), order)
		if err != nil {
			return err
		}
		notice = "Order “" + linked.Number + "” linked."
	}
	return p.RedirectWithUndo(r, page.ReturnAddress(r, s.path), notice, undo)
}

// linkUndo returns the address that undoes a change of the order that an abstract is linked to, or "" if it stayed.
func (p *Pages) linkUndo(before, now model.TitleWork) string {
	if before.OrderID == now.OrderID {
		return ""
	}
	return page.UndoAddress(p.AbstractPath(now.AbstractID)+"/order-link", url.Values{"order": {p.orderValue(before.OrderID)},
		"version": {strconv.FormatUint(now.Versions.Order, 10)}})
}

// orderValue returns the opaque ID of an order, or "" if there is none.
func (p *Pages) orderValue(id uint64) string {
	if id == 0 {
		return ""
	}
	return p.IDs.Orders.Encode(id)
}

// abstractPicker serves the page on which the user finds an abstract for an order.
func (p *Pages) abstractPicker(r *page.Request) error {
	if err := page.CheckAccess(r.Visitor, page.MayWrite); err != nil {
		return err
	}
	order, err := p.App.Orders.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	path := p.OrderPath(order.ID)
	view := picker{Back: path, Name: "Order " + order.Number, Path: path + "/abstract-link", Field: "abstract",
		Lead: "An abstract can be linked to only one order.", Label: "File number, Parcel ID, address, or name",
		Text: strings.TrimSpace(r.URL.Query().Get("q"))}
	var hits []search.Hit
	if view.Guessed = view.Text == ""; view.Guessed {
		related, err := p.App.Search.RelatedToOrder(r.Context(), order)
		if err != nil {
			return err
		}
		hits = related.ByKind("abstract").Hits
	} else if hits, err = FindRecords(p.Site, r, "abstract", view.Text, pickerRows); err != nil {
		return err
	}
	for _, hit := range hits {
		one := pick{Hit: hit, Value: p.IDs.Abstracts.Encode(hit.ID), Path: p.AbstractPath(hit.ID)}
		if one.Note, err = p.linkNote(r, hit.ID, order); err != nil {
			return err
		}
		view.Results = append(view.Results, one)
	}
	return p.showPicker(r, "Link an abstract", "orders", view)
}

// linkNote says which order an abstract is linked to.
func (p *Pages) linkNote(r *page.Request, abstract uint64, order model.Order) (string, error) {
	work, err := p.App.TitleWork.Get(r.Context(), abstract)
	switch {
	case errs.KindOf(err) == errs.NotFound:
		return "", nil
	case err != nil || work.OrderID == 0:
		return "", err
	case work.OrderID == order.ID:
		return "Currently linked", nil
	}
	other, err := p.App.Orders.Get(r.Context(), work.OrderID)
	if err != nil && errs.KindOf(err) != errs.NotFound {
		return "", err
	}
	return "Linked to order " + cmp.Or(other.Number, "in the trash"), nil
}

// linkAbstract links an abstract to an order.
func (p *Pages) linkAbstract(r *page.Request) error {
	abstract, ok := p.IDs.Abstracts.Decode(r.PostForm.Get("abstract"))
	if !ok {
		return errs.InvalidField("abstract", "Select an abstract from the list.")
	}
	before, err := p.App.TitleWork.Get(r.Context(), abstract)
	if err != nil {
		return err
	}
	work, err := p.App.TitleWork.SetOrder(r.Context(), r.Actor, abstract, r.PathID, vault.Match{})
	if err != nil {
		return err
	}
	return p.RedirectWithUndo(r, p.OrderPath(r.PathID), "Abstract linked.", p.linkUndo(before, work))
}
