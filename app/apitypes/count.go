package apitypes

import "strconv"

// Count is a number of things for people: "1 document", "2 documents".
func Count[N int | int64 | uint64](n N, one, many string) string {
	noun := many
	if n == 1 {
		noun = one
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}
