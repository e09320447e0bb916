package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"deedkeep/app/instance"
	"deedkeep/app/search"
)

// Metrics of the search index.
var (
	searchReady    = gauge("search_ready", "1 if searches are answered by a whole search index, 0 while callers are told to come again.")
	searchBuilding = gauge("search_building", "1 while a search index is being made, be it beside one that answers.")
	searchIndexed  = gauge("search_build_indexed_records",
		"Records that are in the search index that is being made, of deedkeep_search_build_records; 0 when none is.")
	searchTotal   = gauge("search_build_records", "Records that the search index that is being made will have; 0 when none is.")
	searchRecords = gauge("search_index_records",
		"Records that are in the search index that answers; a document is one, and so is an abstract and an order.")
	searchBytes    = gauge("search_index_bytes", "Size of the search index that answers, on the disk.")
	searchSegments = gauge("search_index_segments",
		"Segments of the search index that answers; many small ones are joined to few large ones.")
	searchBehind       = gauge("search_behind_changes", "Changes of records that the search index does not know of yet.")
	searchMissingTexts = gauge("search_missing_texts",
		"Documents whose text is still to be made again, for a search index that is being made or the one that answers.")
	searchFailing = gauge("search_failing",
		"1 while the search index does not follow what is changed; the log and deedkeep status say why.")
	searchRequests = counter("search_requests_total",
		"Searches, by what became of them: found; nothing; refused: it could not be asked so; deadline: it took too long; busy: too many "+
			"others were under way; no_index: the search index is being made; left: whoever asked left before the answer; "+
			"trouble: of ours.", "outcome")
	searchSeconds = metric{prometheus.NewDesc("deedkeep_search_duration_seconds",
		"Time of a search that was answered, with the reading of what was found.", nil, nil), 0}
)

func sendSearch(to sink, n instance.Metrics) {
	s := n.Search
	to.flag(searchReady, s.Ready)
	to.flag(searchBuilding, s.Building)
	to.flag(searchFailing, s.Failure != "")
	number(to, searchIndexed, s.Done)
	number(to, searchTotal, s.Total)
	number(to, searchRecords, s.Documents)
	number(to, searchBytes, s.Bytes)
	number(to, searchSegments, s.Segments)
	number(to, searchBehind, s.PendingChanges)
	number(to, searchMissingTexts, s.MissingText)
	to.byLabel(searchRequests, search.Outcomes, n.Searches)
	to.histogram(searchSeconds, n.SearchSeconds)
}
