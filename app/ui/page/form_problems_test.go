package page

import (
	"testing"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// Pages name fields and values as their forms do, and say what to enter.
func TestSentence(t *testing.T) {
	for _, tt := range []struct {
		problem errs.Problem
		want    string
	}{
		{errs.Problem{Code: errs.NotDate, Name: "from"}, "This isn't a date. Write it like 3/9/1998."},
		{errs.Problem{Code: errs.NotDate, Name: "from", Value: "2/30/1998"}, "“2/30/1998” isn't a date. Write it like 3/9/1998."},
		{errs.Problem{Code: model.DateBefore, Name: "to", Args: []any{"from"}}, "The end date must not be before the start date."},
		{errs.Problem{Code: errs.NotMoney, Name: "consideration"}, "This isn't an amount. Write it like 1,250.00."},
		{errs.Problem{Code: errs.TooLong, Name: "tax map", Args: []any{255}}, "The Parcel ID can have at most 255 characters."},
	} {
		if got := sentence(tt.problem); got != tt.want {
			t.Errorf("sentence(%+v) = %q, want %q", tt.problem, got, tt.want)
		}
	}
}
