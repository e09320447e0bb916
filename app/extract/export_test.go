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
