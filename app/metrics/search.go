package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"deedkeep/app/vault"
)

// What the vault tells of the index of words.
var (
	searchReady     = gauge("search_ready", "1 if searches are answered by an index.")
	searchBuilding  = gauge("search_building", "1 while an index is being made, be it beside one that answers.")
	searchDone      = gauge("search_building_done_records", "Records that are in the index that is being made; 0 when none is.")
	searchTotal     = gauge("search_building_all_records", "Records that will be in it; 0 when none is being made.")
	searchDocuments = gauge("search_documents", "Records that are in the index that answers.")
	searchBytes     = gauge("search_index_bytes", "Size of that index on the disk.")
	searchSegments  = gauge("search_segments", "Files that it consists of, without those beside them.")
	searchBehind    = gauge("search_behind_changes", "Changes of records that it does not know of yet.")
	searchTexts     = gauge("search_missing_texts", "Documents that are not found by their text until that is made again.")
	searchStuck     = gauge("search_failing", "1 while the index does not follow what is changed; the log says why.")
	searches        = counter("searches_total", "Searches, by what became of them.", "outcome")
	searchSeconds   = told{prometheus.NewDesc("deedkeep_search_duration_seconds", "Time of a search that was answered, with the reading of what was found.", nil, nil), 0}
)

func search(to sent, n vault.Numbers) {
	s := n.Search
	to.flag(searchReady, s.Ready)
	to.flag(searchBuilding, s.Building)
	to.flag(searchStuck, s.Failed != "")
	number(to, searchDone, s.Done)
	number(to, searchTotal, s.Total)
	number(to, searchDocuments, s.Documents)
	number(to, searchBytes, s.Bytes)
	number(to, searchSegments, s.Segments)
	number(to, searchBehind, s.Behind)
	number(to, searchTexts, s.Texts)
	to.by(searches, vault.SearchOutcomes, n.Searches)
	to.histogram(searchSeconds, n.SearchSeconds)
}
