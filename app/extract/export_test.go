package extract

import "time"

// CutReasons returns why the instruments of a document start, by page.
func CutReasons(pages []Page, rules *Rules, at time.Time) map[int]string {
	reasons := map[int]string{}
	for _, c := range cutsOf(pages, rules, at)[1:] {
		reasons[c.page] = string(c.reason)
	}
	return reasons
}

// Starts returns the pages on which the instruments of a document start.
func Starts(pages []Page, rules *Rules, at time.Time) (starts []int) {
	for _, c := range cutsOf(pages, rules, at) {
		starts = append(starts, c.page)
	}
	return starts
}
