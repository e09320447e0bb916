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
		{errs.Problem{Code: errs.NotDate, Name: "from"}, "The start date is not a valid date. Enter it as month/day/year, such as 3/14/2026."},
		{errs.Problem{Code: model.DateBefore, Name: "to", Args: []any{"from"}}, "The end date must not be before the start date."},
		{errs.Problem{Code: errs.NotMoney, Name: "consideration"}, "The amount must be a number of dollars, such as 1,250.00."},
		{errs.Problem{Code: errs.TooLong, Name: "tax map", Args: []any{255}}, "The Parcel ID can have at most 255 characters."},
	} {
		if got := sentence(tt.problem); got != tt.want {
			t.Errorf("sentence(%+v) = %q, want %q", tt.problem, got, tt.want)
		}
	}
}
