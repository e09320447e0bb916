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
		far = fmt.Sprintf(", %d of %d records", *i.Done, *i.Total)
	}
	switch {
	case i.Error != nil:
		return bad("search", "the search index can't be updated: "+*i.Error,
			`check the disk and the server log; the server retries automatically; to rebuild the search index, run "deedkeep reindex"`)
	case i.Ready && i.MissingTexts > 0:
		return warn("search", apitypes.Count(i.MissingTexts+s.Queue, "document can't be found by its text",
			"documents can't be found by their text")+": the text is missing or damaged",
			"wait; the server extracts the missing text automatically")
	case i.Ready && i.Building:
		return ok("search", "rebuilding the search index; search uses the current one"+far)
	case i.Building && s.Running:
		return warn("search", "building the search index; until it is complete, search finds only numbers, Parcel IDs, and addresses"+far,
			"wait; uploads continue to work")
	case i.Building:
		return warn("search", "the rebuild of the search index was interrupted", "start the server or run \"deedkeep reindex\" to resume the rebuild")
	case !i.Ready && s.Running:
		return warn("search", "no search index; search finds only numbers, Parcel IDs, and addresses",
			`wait until the server has built the search index, or run "deedkeep reindex"`)
	case !i.Ready:
		return ok("search", "no search index yet; the server builds one automatically")
	case s.Running && i.Behind > search.LagThreshold:
		return warn("search", fmt.Sprintf("the search index is %d changes behind; search doesn't find the latest changes yet", i.Behind),
			"wait while documents are being uploaded; check the server log for errors")
	}
	return ok("search", fmt.Sprintf("%s in the search index, %s", apitypes.Count(i.Records, "record is", "records are"), apitypes.HumanSize(i.Bytes)))
}
