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
		return "Rebuilding the search index" + s.progress() + ". Searches use the old index until it is complete." + s.nameOnlySentence()
	case s.Ready && s.MissingTextLive > 0:
		return Plural(s.Documents, "record", "records") + " in the search index." + s.nameOnlySentence()
	case s.Building:
		return "Building the search index" + s.progress() + ". Until then, search finds only numbers, Parcel IDs, and addresses."
	case !s.Ready:
		return "The search index is missing. Search finds only numbers, Parcel IDs, and addresses."
	case s.PendingChanges > 0:
		return fmt.Sprintf("%s in the search index (%s). %s not searchable yet.",
			Plural(s.Documents, "record", "records"), FormatSize(s.Bytes), Plural(s.PendingChanges, "change is", "changes are"))
	}
	return fmt.Sprintf("%s in the search index (%s). It is up to date.", Plural(s.Documents, "record", "records"), FormatSize(s.Bytes))
}

// Missing says why the search index can't be used. It returns "" if the index can be used or if the
// reason is unknown.
func (s SearchIndexStatus) Missing() string {
	switch {
	case s.Ready:
	case s.Failure != "" && s.Building && s.Total > 0:
		return "Search isn't updating right now" + s.progress() + ". Administrators can see details in Settings."
	case s.Failure != "":
		return "Search isn't updating right now. Administrators can see details in Settings."
	case s.Building && s.Total > 0:
		return "The search index is being built" + s.progress() + "."
	}
	return ""
}

// Late says which recent changes a search doesn't find yet, or "" if the delay is too short to
// mention.
func (s SearchIndexStatus) Late() string {
	var says []string
	switch late := s.State.Lagging(); {
	case late && s.Failure != "":
		says = append(says, "Search isn't updating right now. Recent uploads and changes may not appear yet.")
	case late:
		says = append(says, "Search is catching up. Recent uploads and changes may not appear yet.")
	}
	if n := s.WithoutText(); s.Ready && n > 0 {
		says = append(says, Plural(n, "document", "documents")+" can be found only by name for now.")
	}
	return strings.Join(says, " ")
}

// nameOnlySentence says how many documents can be found by name only.
func (s SearchIndexStatus) nameOnlySentence() string {
	if s.MissingTextLive == 0 {
		return ""
	}
	return " " + Plural(s.MissingTextLive, "document", "documents") + " can be found only by name until the server has read the text again."
}

func (s SearchIndexStatus) progress() string {
	if s.Total == 0 {
		return ""
	}
	return fmt.Sprintf(": %s (%s of %s records)", s.Percent(), FormatCount(s.Done), FormatCount(s.Total))
}

// Percent returns the progress of an index rebuild.
func (s SearchIndexStatus) Percent() string {
	if s.Total == 0 {
		return "0%"
	}
	return fmt.Sprintf("%d%%", min(s.Done, s.Total)*100/s.Total)
}

// SearchIndexStatus reads the state of the search index. If that fails, Problem is set.
func (si *Site) SearchIndexStatus(ctx context.Context) SearchIndexStatus {
	state, err := si.App.Search.State(ctx)
	if err != nil {
		si.Log.ErrorContext(ctx, "search index status not read", "error", err)
		return SearchIndexStatus{Problem: "The search index status is not available."}
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
