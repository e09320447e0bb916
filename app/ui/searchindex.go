package ui

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"deedkeep/app/vault"
)

// searchIndex is the index of words as its card shows it.
type searchIndex struct {
	vault.SearchState
	Trouble string // why nothing is known of it
}

// Says is how the index is, in a sentence or two.
func (s searchIndex) Says() string {
	switch {
	case s.Building && s.Ready:
		return "The index is being made anew" + s.progress() + ". The old one answers until then." + s.byName()
	case s.Ready && s.Lacking > 0:
		return pluralAny(s.Documents, "record is", "records are") + " in the index." + s.byName()
	case s.Building:
		return "The index is being made" + s.progress() + ". Until then only numbers, parcels and addresses are found."
	case !s.Ready:
		return "There is no index of words: only numbers, parcels and addresses are found."
	case s.Behind > 0:
		return fmt.Sprintf("%s in %s. %s not in it yet.", pluralAny(s.Documents, "record", "records"), size(s.Bytes), pluralAny(s.Behind, "change is", "changes are"))
	}
	return fmt.Sprintf("%s in %s, with every change there was.", pluralAny(s.Documents, "record", "records"), size(s.Bytes))
}

// Missing is why an index that does not answer does not; "" where nothing is known of it.
func (s searchIndex) Missing() string {
	switch {
	case s.Ready:
	case s.Failed != "" && s.Building && s.Total > 0:
		return "The search index does not get on for now" + s.progress() + ". Administrators see why under Settings."
	case s.Failed != "":
		return "The search index does not get on for now. Administrators see why under Settings."
	case s.Building && s.Total > 0:
		return "The search index is being made" + s.progress() + "."
	}
	return ""
}

// Late is what an index that answers does not find yet, if that is worth a sentence or two.
func (s searchIndex) Late() string {
	var says []string
	switch late := s.SearchState.Late(); {
	case late && s.Failed != "":
		says = append(says, "The search index does not get on for now: what was filed or changed lately is not found yet.")
	case late:
		says = append(says, "The search index is catching up: some of what was filed or changed lately is not found yet.")
	}
	if n := s.ByName(); s.Ready && n > 0 {
		says = append(says, pluralAny(n, "document is not found by what it says", "documents are not found by what they say")+" yet, only by name.")
	}
	return strings.Join(says, " ")
}

// byName is a sentence on the documents that the index which answers has no text of.
func (s searchIndex) byName() string {
	if s.Lacking == 0 {
		return ""
	}
	return " " + pluralAny(s.Lacking, "document is", "documents are") + " found by name only until the text is made again, as after a restore."
}

func (s searchIndex) progress() string {
	if s.Total == 0 {
		return ""
	}
	return fmt.Sprintf(": %s, %s of %s records", s.Percent(), countAny(s.Done), countAny(s.Total))
}

// Percent is how far the one is that is being made.
func (s searchIndex) Percent() string {
	if s.Total == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", min(s.Done, s.Total)*100/s.Total)
}

func (p *pages) searchIndex(ctx context.Context) searchIndex {
	state, err := p.Vault.SearchState(ctx)
	if err != nil {
		p.Log.ErrorContext(ctx, "search index", "error", err)
		return searchIndex{Trouble: "How the index is cannot be told now."}
	}
	return searchIndex{SearchState: state}
}

// searchCard is the part that a script asks for again while an index is being made.
func (p *pages) searchCard(w http.ResponseWriter, r *http.Request, who visitor) error {
	if !isPart(r) {
		redirect(w, r, "/admin/settings#search-index")
		return nil
	}
	return p.part(w, r, who, http.StatusOK, "settings.html", "search-index", p.searchIndex(r.Context()))
}

// reindex has the index made anew; the one there is answers until then.
func (p *pages) reindex(w http.ResponseWriter, r *http.Request, who visitor) error {
	if err := p.Vault.Reindex(r.Context(), who.Actor); err != nil {
		return asConflict(err)
	}
	if isPart(r) {
		return p.searchCard(w, r, who)
	}
	return p.see(w, r, "/admin/settings", "The search index is being made anew.")
}
