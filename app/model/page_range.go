package model

import (
	"slices"
	"strconv"
	"strings"
)

// ParsePages parses a list of pages, such as "3-7" or "1, 3-5", and returns it without spaces and
// the last page. It returns false if text is not such a list, a page is 0, or a range runs
// backward.
func ParsePages(text string) (pages string, last int, ok bool) {
	var ranges []string
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.ReplaceAll(part, "–", "-"), "-")
		low, err := strconv.Atoi(strings.TrimSpace(from))
		high := low
		if err == nil && isRange {
			high, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil || low < 1 || high < low {
			return "", 0, false
		}
		last = max(last, high)
		if high > low {
			ranges = append(ranges, strconv.Itoa(low)+"-"+strconv.Itoa(high))
		} else {
			ranges = append(ranges, strconv.Itoa(low))
		}
	}
	return strings.Join(ranges, ","), last, true
}

// FirstPage returns the first page of a list of pages, or 1 if it is empty.
func FirstPage(pages string) int {
	first := 0
	for part := range strings.SplitSeq(pages, ",") {
		from, _, _ := strings.Cut(part, "-")
		if n, err := strconv.Atoi(from); err == nil && (first == 0 || n < first) {
			first = n
		}
	}
	return max(first, 1)
}

// ContainsPage reports whether a list of pages contains a page. An empty list contains all pages.
func ContainsPage(pages string, page int) bool {
	return pages == "" || slices.ContainsFunc(strings.Split(pages, ","), func(part string) bool {
		from, to, isRange := strings.Cut(part, "-")
		low, err := strconv.Atoi(from)
		high := low
		if isRange {
			high, _ = strconv.Atoi(to)
		}
		return err == nil && low <= page && page <= high
	})
}

// PacketPages returns the pages of a new instrument that starts on page start of a document with count pages and
// several instruments. Pages that a person typed stay. If another instrument follows, this one ends on the page that is
// shown.
func PacketPages(typed string, start, shown, count int, another bool) string {
	first := strconv.Itoa(start)
	switch {
	case count < 2 || typed != "" && typed != first:
		return typed
	case another && shown > start:
		return first + "-" + strconv.Itoa(shown)
	}
	return first
}
