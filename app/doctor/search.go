package doctor

import (
	"fmt"

	"deedkeep/app/apitypes"
	"deedkeep/app/search"
)

// checkSearchIndex checks the search index, which the server builds and updates automatically.
func checkSearchIndex(found *apitypes.Checkup) apitypes.Diagnosis {
	s := found.Status
	i := s.Search
	far := ""
	if i.Done != nil && i.Total != nil && *i.Total > 0 {
		far = fmt.Sprintf(", %d of %d records so far", *i.Done, *i.Total)
	}
	switch {
	case i.Error != nil:
		return bad("search", "the index does not get on: "+*i.Error,
			`see to the disk and the log; it is tried again by itself, and made anew by "deedkeep reindex"`)
	case i.Ready && i.MissingTexts > 0:
		return warn("search", apitypes.Count(i.MissingTexts+s.Queue, "document is not found by its text",
			"documents are not found by their text")+", which is missing or damaged",
			"wait: the server rebuilds texts automatically, as after a restore")
	case i.Ready && i.Building:
		return ok("search", "a new index is being made; the one there is answers"+far)
	case i.Building && s.Running:
		return warn("search", "the index is being made, and only numbers, parcels and addresses are found until it is whole"+far,
			"wait; documents are taken all the while")
	case i.Building:
		return warn("search", "the making of the index was cut off", "a server goes on with it, and so does: deedkeep reindex")
	case !i.Ready && s.Running:
		return warn("search", "there is no index, and only numbers, parcels and addresses are found",
			`the server makes one in a moment; else: deedkeep reindex`)
	case !i.Ready:
		return ok("search", "there is no index yet; a server makes it")
	case s.Running && i.Behind > search.LagThreshold:
		return warn("search", fmt.Sprintf("the index is %d changes behind: what was filed last is not found yet", i.Behind),
			"wait while documents arrive; the log says when something is in the way")
	}
	return ok("search", fmt.Sprintf("%s in the index, %s", apitypes.Count(i.Records, "record is", "records are"), apitypes.HumanSize(i.Bytes)))
}
