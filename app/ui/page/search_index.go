package page

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"deedkeep/app/search"
)

// SearchIndexStatus describes the state of the search index to users.
type SearchIndexStatus struct {
	search.State
	Problem string // why the state is unknown
}

// Says describes the state in one or two sentences.
func (s SearchIndexStatus) Says() string {
	switch {
	case s.Building && s.Ready:
		return "The index is being made anew" + s.progress() + ". The old one answers until then." + s.nameOnlySentence()
	case s.Ready && s.MissingTextLive > 0:
		return Plural(s.Documents, "record is", "records are") + " in the index." + s.nameOnlySentence()
	case s.Building:
		return "The index is being made" + s.progress() + ". Until then only numbers, parcels and addresses are found."
	case !s.Ready:
		return "There is no index of words: only numbers, parcels and addresses are found."
	case s.PendingChanges > 0:
		return fmt.Sprintf("%s in %s. %s not in it yet.", Plural(s.Documents, "record", "records"), FormatSize(s.Bytes), Plural(s.PendingChanges, "change is", "changes are"))
	}
	return fmt.Sprintf("%s in %s, with every change there was.", Plural(s.Documents, "record", "records"), FormatSize(s.Bytes))
}

// Missing says why the search index can't be used. It returns "" if the index can be used or if the
// reason is unknown.
func (s SearchIndexStatus) Missing() string {
	switch {
	case s.Ready:
	case s.Failure != "" && s.Building && s.Total > 0:
		return "The search index does not get on for now" + s.progress() + ". Administrators see why under Settings."
	case s.Failure != "":
		return "The search index does not get on for now. Administrators see why under Settings."
	case s.Building && s.Total > 0:
		return "The search index is being made" + s.progress() + "."
	}
	return ""
}

// Late says which recent changes a search doesn't find yet, or "" if the delay is too short to
// mention.
func (s SearchIndexStatus) Late() string {
	var says []string
	switch late := s.State.Lagging(); {
	case late && s.Failure != "":
		says = append(says, "The search index does not get on for now: what was filed or changed lately is not found yet.")
	case late:
		says = append(says, "The search index is catching up: some of what was filed or changed lately is not found yet.")
	}
	if n := s.WithoutText(); s.Ready && n > 0 {
		says = append(says, Plural(n, "document is not found by what it says", "documents are not found by what they say")+" yet, only by name.")
	}
	return strings.Join(says, " ")
}

// nameOnlySentence says how many documents can be found by name only.
func (s SearchIndexStatus) nameOnlySentence() string {
	if s.MissingTextLive == 0 {
		return ""
	}
	return " " + Plural(s.MissingTextLive, "document is", "documents are") + " found by name only until the text is made again, as after a restore."
}

func (s SearchIndexStatus) progress() string {
	if s.Total == 0 {
		return ""
	}
	return fmt.Sprintf(": %s, %s of %s records", s.Percent(), FormatCount(s.Done), FormatCount(s.Total))
}

// Percent returns the progress of an index rebuild.
func (s SearchIndexStatus) Percent() string {
	if s.Total == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%d %%", min(s.Done, s.Total)*100/s.Total)
}

// SearchIndexStatus reads the state of the search index. If that fails, Problem is set.
func (p *Site) SearchIndexStatus(ctx context.Context) SearchIndexStatus {
	state, err := p.Vault.Search.State(ctx)
	if err != nil {
		p.Log.ErrorContext(ctx, "search index", "error", err)
		return SearchIndexStatus{Problem: "How the index is cannot be told now."}
	}
	return SearchIndexStatus{State: state}
}

// TooShortToSearch reports whether the text has fewer than two letters or digits.
func TooShortToSearch(text string) bool {
	n := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n < 2
}
