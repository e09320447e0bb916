package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes. As text, it consists of digits and a unit, such as `100 MB`. Each unit is 1,024 times the
// next smaller one, whether or not its name contains an `i`.
type Size int64

// Size units in bytes.
const (
	// Units of Size.
	kb Size = 1 << (10 * (iota + 1))
	MB
	GB
	TB
)

type unit struct {
	name   string
	factor Size
}

func units() []unit { return []unit{{"TB", TB}, {"GB", GB}, {"MB", MB}, {"KB", kb}} }

var errSize = errors.New("is not a valid size; use a value such as 100 MB or 64 KB, or a number of bytes")

// parseSize parses `100 MB`, `8 MiB`, `512 B`, or a plain number of bytes. It ignores spaces and letter case.
func parseSize(text string) (Size, error) {
	text = strings.TrimSpace(text)
	end := strings.LastIndexAny(text, "0123456789") + 1
	number, err := strconv.ParseInt(text[:end], 10, 64)
	factor, known := unitFactor(strings.TrimSpace(text[end:]))
	if err != nil || !known || strings.HasPrefix(text, "+") {
		return 0, errSize
	}
	if number > math.MaxInt64/int64(factor) || number < math.MinInt64/int64(factor) {
		return 0, errSize
	}
	return Size(number) * factor, nil
}

func unitFactor(name string) (Size, bool) {
	name = strings.ToUpper(name)
	if name == "" || name == "B" {
		return 1, true
	}
	for _, u := range units() {
		if name == u.name || name == u.name[:1]+"IB" {
			return u.factor, true
		}
	}
	return 0, false
}

// String formats s in the largest unit that divides it evenly, such as `100 MB`, `1000 B`, or `0`.
func (s Size) String() string {
	if s == 0 {
		return "0"
	}
	for _, u := range units() {
		if s%u.factor == 0 {
			return strconv.FormatInt(int64(s/u.factor), 10) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + " B"
}
