package extract_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
)

// recordedDeed returns a deed of a county with an unusual recording stamp, which is a line of text.
func recordedDeed(stamp string, fields map[string]string) extract.RecordedInstrument {
	text := stamp + "\nWARRANTY DEED\n\nTHIS DEED, made this 15th day of April, 2019, by and between John A. Smith, Grantor, and\n" +
		"Acme Homes, LLC, Grantee, recorded in Reception Mark 99-1234567 of the official records.\n"
	return extract.RecordedInstrument{Pages: []extract.Page{extract.PlainText(text)}, Fields: fields}
}

// A pattern is proposed for a label that several recorded instruments have, if it reads more of them.
func TestPropose(t *testing.T) {
	t.Parallel()
	number := func(text string) map[string]string { return map[string]string{extract.InstrumentNumber: text} }
	for _, test := range []struct {
		name string
		docs []extract.RecordedInstrument
		want string
	}{
		{"unknown label", []extract.RecordedInstrument{recordedDeed("Wexcombe Mark: 19-0001234", number("19-0001234")),
			recordedDeed("Wexcombe  Mark 20-0000077", number("20-0000077")), recordedDeed("Wexcombe Mark 20-0000078", nil)},
			`instrument_number \bWexcombe\W+Mark\W*(?P<instrument_number>[0-9]+-[0-9]+)\b 2 right 0 wrong had 0`},
		{"label above", []extract.RecordedInstrument{recordedDeed("Wexcombe Mark\n4711", number("4711")),
			recordedDeed("Wexcombe Mark\n4712", number("4712"))},
			`instrument_number \bWexcombe\W+Mark\W*(?P<instrument_number>[0-9]+)\b 2 right 0 wrong had 0`},
		{"two numbers", []extract.RecordedInstrument{
			recordedDeed("Tome 12 Leaf 34", map[string]string{extract.Book: "12", extract.PageNumber: "34"}),
			recordedDeed("Tome 13 Leaf 35", map[string]string{extract.Book: "13", extract.PageNumber: "35"})},
			`page \bLeaf\W*(?P<page>[0-9]+)\b 2 right 0 wrong had 0; book \bTome\W*(?P<book>[0-9]+)\b 2 right 0 wrong had 0`},
		{"once", []extract.RecordedInstrument{recordedDeed("Wexcombe Mark 4711", number("4711"))}, ""},
		{"already read", []extract.RecordedInstrument{recordedDeed("Instrument No. 201900012", number("201900012")),
			recordedDeed("Instrument No. 201900013", number("201900013"))}, ""},
		{"no label", []extract.RecordedInstrument{recordedDeed("4711", number("4711")), recordedDeed("4712", number("4712"))}, ""},
		{"not in the text", []extract.RecordedInstrument{recordedDeed("Wexcombe Mark 1", number("4711")),
			recordedDeed("Wexcombe Mark 2", number("4712"))}, ""},
		{"running text", []extract.RecordedInstrument{recordedDeed("", number("99-1234567")), recordedDeed("", number("99-1234567"))}, ""},
		{"read where nothing was recorded", []extract.RecordedInstrument{recordedDeed("Deed Book 12 Page 34 Tome 7", number("")),
			recordedDeed("Deed Book 13 Page 35 Tome 8", map[string]string{extract.Book: ""})}, ""},
		{"wrong for an instrument without a number", []extract.RecordedInstrument{recordedDeed("Wexcombe Mark 4711", number("4711")),
			recordedDeed("Wexcombe Mark 4712", number("4712")), recordedDeed("Wexcombe Mark 9999", number(""))}, ""},
		{"wrong for others", []extract.RecordedInstrument{recordedDeed("Wexcombe Mark 4711", number("4711")),
			recordedDeed("Wexcombe Mark 4712", number("4712")), recordedDeed("Wexcombe Mark 9999", number("8000"))}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := extract.DefaultRules().Propose(t.Context(), "Wexcombe", "PA", test.docs, time.Now())
			if err != nil {
				t.Fatalf("propose patterns: %v", err)
			}
			var got []string
			for _, p := range list {
				const before, after = "- county: Wexcombe\n  state: PA\n  find: ", "\n  in: stamp\n"
				find, ok := strings.CutPrefix(p.Text, before)
				find, ok2 := strings.CutSuffix(find, after)
				if !ok || !ok2 {
					t.Errorf("pattern: got %s, want %s…%s", p.Text, before, after)
				}
				got = append(got, fmt.Sprintf("%s %s %d right %d wrong had %d", p.Field, strings.Trim(find, "'"), p.Right, p.Wrong, p.Had))
			}
			if strings.Join(got, "; ") != test.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), test.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := extract.DefaultRules().Propose(ctx, "", "", []extract.RecordedInstrument{{}}, time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: got %v, want %v", err, context.Canceled)
	}
}
