package apitypes

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// TimeLayout is the format of all timestamps in JSON, always in UTC:
//
//	2026-05-29T04:00:00.000000Z
//	           date       time    microseconds
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// DateLayout is the format of all dates in JSON: 2026-06-15.
const DateLayout = "2006-01-02"

// Time is a timestamp in the format TimeLayout. It is truncated, not rounded, to microseconds. A nil *Time is encoded
// as null.
type Time struct{ time.Time }

// At returns t in the form it has after encoding and decoding: in UTC, truncated to microseconds, and without a
// monotonic clock reading.
func At(t time.Time) Time {
	return Time{t.UTC().Truncate(time.Microsecond)}
}

// String returns the timestamp with TimeLayout, without quotes.
func (t Time) String() string { return t.UTC().Format(TimeLayout) }

// MarshalJSON writes the quoted timestamp. A year outside 0000 to 9999 is an error because no reader could parse it.
func (t Time) MarshalJSON() ([]byte, error) { return t.appendJSON(nil) }

// MarshalJSONTo does the same for Marshal, without allocating memory.
func (t Time) MarshalJSONTo(enc *jsontext.Encoder) error {
	raw, err := t.appendJSON(enc.AvailableBuffer())
	if err != nil {
		return err
	}
	return enc.WriteValue(raw)
}

func (t Time) appendJSON(buf []byte) ([]byte, error) {
	at := t.UTC()
	if y := at.Year(); y < 0 || y > 9999 {
		return nil, fmt.Errorf("encode timestamp: year %d doesn't have four digits", y)
	}
	return append(at.AppendFormat(append(buf, '"'), TimeLayout), '"'), nil
}

// UnmarshalJSON accepts only what MarshalJSON writes: null, another time zone, or another number of decimals is an
// error.
func (t *Time) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("decode timestamp: %w", err)
	}
	if s == nil {
		return fmt.Errorf("decode timestamp: value is null")
	}
	at, err := time.Parse(TimeLayout, *s)
	if err != nil {
		return fmt.Errorf("decode timestamp: %w", err)
	}
	// time.Parse also accepts a comma and more decimals than the layout has.
	if at.Format(TimeLayout) != *s {
		return fmt.Errorf("decode timestamp: %q doesn't have the format %s", *s, TimeLayout)
	}
	t.Time = at
	return nil
}
