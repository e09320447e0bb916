package page

import (
	"cmp"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/search"
)

// pageCodes maps codes whose sentences are written for developers to the sentences that pages show.
var pageCodes = map[errs.Code]errs.Code{
	errs.TooLong:          "The {field} can have at most %d characters.",
	errs.NotDate:          "{value} isn't a date. Write it like 3/9/1998.",
	errs.NotMoney:         "{value} isn't an amount. Write it like 1,250.00.",
	model.DateBefore:      "The {field} must not be before the %s.",
	search.TextTooShort:   "Type at least two letters or digits.",
	search.TextTooLong:    "The search is too long. Use at most %d characters.",
	search.TextTooComplex: "The search is too complex. Use fewer words.",
	search.TextInvalid:    "The search contains characters that can't be searched.",
}

// pageNames maps the names of fields in the API to the names on pages.
var pageNames = map[string]string{
	"filename": "name", "tax map": "Parcel ID", "dated": "date of the instrument", "recorded": "recording date",
	"expires": "expiration date", "consideration": "amount",
	"from": "start date", "to": "end date", "search from": "start of the search",
}

// sentence returns the sentence that pages show for a problem.
func sentence(p errs.Problem) string {
	if p.Code == errs.InvalidChoice && p.Name == "template id" {
		return "The template is invalid."
	}
	if code, found := pageCodes[p.Code]; found {
		p.Code = code
	}
	p.Name = cmp.Or(pageNames[p.Name], p.Name)
	p.Args = slices.Clone(p.Args)
	for i, arg := range p.Args {
		if name, ok := arg.(string); ok { // another field
			p.Args[i] = cmp.Or(pageNames[name], name)
		}
	}
	value := "This"
	if p.Value != "" {
		value = "“" + p.Value + "”"
	}
	return strings.ReplaceAll(p.Sentence(), "{value}", value)
}

// ErrorMessage returns the message of an error in the wording used on pages.
func ErrorMessage(err *errs.Error) string {
	if err.Kind == errs.Invalid && len(err.Fields) > 0 {
		return err.Fields.Summary(sentence)
	}
	return err.Message
}
