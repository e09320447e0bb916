package titlework

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"deedkeep/app/model"
	"deedkeep/app/titlecheck"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Progress is the template data of the line that shows the progress of a search.
type Progress struct {
	Path  string // address of the part
	Chain []ChainOwners
	Last  string // about the last of Chain: "last grantee, recorded Mar 9, 1998"
	Parts []ProgressPart
}

// ChainOwners are owners in the chain of title. Names is "" if Text has all of them. Between is what separates them from
// those before, if there are any: an arrow if an instrument is from those to these.
type ChainOwners struct{ Text, Names, Anchor, Between string }

// ProgressPart is a part of the line. Anchor is its place on the page of the abstract, and Tone its color class.
type ProgressPart struct{ Text, Anchor, Tone string }

// partProgress is the name of the line if it is missing in a response; see txn.DB.Derive.
const partProgress = "progress"

// progress returns the progress of the search of an abstract.
func (p *Pages) progress(ctx context.Context, s source, sheet vault.Runsheet) Progress {
	view := Progress{Path: s.path + "/progress"}
	if len(sheet.Instruments) == 0 && len(s.abstract.Files) == 0 {
		view.Parts = []ProgressPart{{"No documents yet", "documents", ""}}
		return view
	}
	missing := p.App.Derive(ctx, partProgress, func() error {
		search := s.search(sheet)
		view.Parts = sheetParts(s, search)
		view.Chain, view.Last = chainOwners(titlecheck.Chain(search))
		return nil
	})
	if missing {
		view.Parts = []ProgressPart{{page.MissingText("Open items"), "runsheet", "warn"}}
	}
	view.Parts = append(view.Parts, s.certificatePart())
	return view
}

// search returns what the names run and the line about the progress follow from.
func (s source) search(sheet vault.Runsheet) *titlecheck.Search {
	search := &titlecheck.Search{Abstract: s.abstract, Work: s.work, Types: sheet.Types}
	for _, i := range sheet.Instruments {
		search.Instruments = append(search.Instruments, titlecheck.Instrument{Instrument: i.Instrument, Type: i.Type, Status: i.Status})
	}
	return search
}

// sheetParts returns the parts of the line about the runsheet and the names run.
func sheetParts(s source, search *titlecheck.Search) (parts []ProgressPart) {
	if len(search.Instruments) == 0 {
		return []ProgressPart{{page.Plural(len(s.abstract.Files), "document", "documents") + ", no instruments yet", "documents", ""}}
	}
	unknown := slices.ContainsFunc(search.Instruments, func(i titlecheck.Instrument) bool { return i.Status == "" })
	progress := titlecheck.ProgressOf(search)
	if n := len(progress.Gaps); n > 0 {
		parts = append(parts, ProgressPart{page.Plural(n, "gap", "gaps"), rowAnchor(progress.Gaps[0].After), "warn"})
	}
	for n, text := range openTexts(progress.Open) {
		parts = append(parts, ProgressPart{text, rowAnchor(progress.Open[n].First), ""})
	}
	switch {
	case unknown: // what is open can't be determined
		parts = append(parts, ProgressPart{"open liens unknown", "runsheet", "warn"})
	case len(parts) == 0:
		parts = append(parts, ProgressPart{"Nothing open", "runsheet", "good"})
	}
	if progress.Names > 0 {
		parts = append(parts, ProgressPart{fmt.Sprintf("names run %d of %d", progress.Run, progress.Names), "names-run", ""})
	}
	return parts
}

// The owners that the line names, if there are more of them: the first, and the last ones.
const firstOwners, lastOwners = 1, 4

// apart separates owners that no instrument joins.
const apart = "; "

// chainOwners returns the owners in the chain of title for the line, and what it says about the last ones.
func chainOwners(chain []titlecheck.Owners) (list []ChainOwners, last string) {
	if len(chain) == 0 {
		return nil, ""
	}
	for n, owners := range chain {
		o := ChainOwners{Text: owners.Short, Anchor: rowAnchor(owners.Instrument)}
		if names := model.JoinNames(owners.Names, "; "); names != owners.Short {
			o.Names = names
		}
		switch {
		case owners.Apart:
			o.Between = apart
		case n > 0:
			o.Between = " → "
		}
		list = append(list, o)
	}
	if others := len(list) - firstOwners - lastOwners; others > 1 {
		more := ChainOwners{Text: fmt.Sprintf("%d more", others), Anchor: "runsheet", Between: " → "}
		if slices.ContainsFunc(list[firstOwners:firstOwners+others], func(o ChainOwners) bool { return o.Between == apart }) {
			more.Between = apart
		}
		list = slices.Concat(list[:firstOwners], []ChainOwners{more}, list[firstOwners+others:])
	}
	end := chain[len(chain)-1]
	if last = "last grantee"; len(end.Grantees) > 1 {
		last = "last grantees"
	}
	if len(end.Grantees) < len(end.Names) { // others kept their share
		last += " " + model.JoinNames(end.Grantees, "; ")
	}
	if end.Recorded != "" {
		last += ", recorded " + page.FormatDate(end.Recorded)
	}
	return list, last
}

// rowAnchor returns the anchor of a row of the runsheet.
func rowAnchor(instrument uint64) string { return fmt.Sprintf("instrument-%d", instrument) }

// maxOpenTypes is the maximum number of types of open liens that are named.
const maxOpenTypes = 3

// openTexts returns how many liens of each type are open, or of all types if there are many.
func openTexts(list []titlecheck.OpenLiens) (texts []string) {
	total := 0
	for _, open := range list {
		total += open.Count
		texts = append(texts, fmt.Sprintf("%d open %s", open.Count, typeText(open.Type.Name, open.Count)))
	}
	if len(list) > maxOpenTypes {
		return []string{fmt.Sprintf("%d open liens", total)}
	}
	return texts
}

// typeText returns the name of a document type in a sentence: "deeds of trust", "HOA lien". A name for several kinds of
// papers, such as "UCC/Financing Statement", stays as it is.
func typeText(name string, n int) string {
	if strings.ContainsAny(name, "/,&()") || strings.Contains(name, " or ") || strings.Contains(name, " and ") {
		return name
	}
	words := strings.Fields(name)
	for at, word := range words {
		if strings.IndexFunc(word[1:], unicode.IsUpper) < 0 {
			words[at] = strings.ToLower(word)
		}
	}
	last := len(words) - 1
	if of := slices.Index(words, "of"); of > 0 {
		last = of - 1 // "deeds of trust"
	}
	if n != 1 && last >= 0 && !strings.HasSuffix(words[last], "s") {
		words[last] += "s"
	}
	return strings.Join(words, " ")
}

// certificatePart returns the part of the line about the certificate.
func (s source) certificatePart() ProgressPart {
	part := ProgressPart{"not certified", "certificates", ""}
	last := s.work.LastCertificate()
	switch {
	case last.ID != 0:
		part.Text = "certified through " + page.FormatDate(last.EffectiveDate)
		if s.work.RunsheetVersion > last.RunsheetVersion {
			part.Text, part.Tone = part.Text+", changed since", "warn"
		}
	case len(s.work.Certificates) > 0:
		part.Text, part.Tone = "certificate void", "warn"
	}
	return part
}

// progressPart serves the line that shows the progress of a search.
func (p *Pages) progressPart(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	if !r.IsPart() {
		return r.Redirect(s.path)
	}
	sheet, err := p.App.Instruments.Runsheet(r.Context(), s.abstract.ID)
	if err != nil {
		return err
	}
	return p.RenderPart(r, http.StatusOK, "abstract.html", "progress", p.progress(r.Context(), s, sheet))
}
