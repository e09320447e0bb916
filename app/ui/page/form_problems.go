package page

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/model"
	"deedkeep/app/search"
)

// FieldProblems returns the messages for each field of a form.
func FieldProblems(fields errs.Fields) map[string]string {
	found := map[string]string{}
	for _, f := range fields {
		sentences := make([]string, 0, len(f.Problems))
		for _, p := range f.Problems {
			sentences = append(sentences, sentence(p))
		}
		found[f.Field] = strings.Join(sentences, " ")
	}
	return found
}

// ProblemTexts returns the messages of all fields, in the sequence of the fields.
func ProblemTexts(fields errs.Fields) (list []string) {
	byField := FieldProblems(fields)
	for _, f := range fields {
		list = append(list, byField[f.Field])
	}
	return list
}

// FormProblems returns the problems to show in a form, by field. Problems with the entire form are
// under "". It returns nil if err is not a problem with the form.
func FormProblems(err error) (status int, problems map[string]string) {
	if busy, ok := errors.AsType[*auth.SignInError](err); ok {
		return SignInErrorStatus(busy), map[string]string{"": busy.Error()}
	}
	domainErr, ok := errors.AsType[*errs.Error](err)
	switch {
	case !ok:
	case domainErr.Kind == errs.Invalid && len(domainErr.Fields) > 0:
		return http.StatusUnprocessableEntity, FieldProblems(domainErr.Fields)
	case domainErr.Kind == errs.Invalid, domainErr.Kind == errs.Conflict:
		return httpx.StatusByKind[domainErr.Kind], map[string]string{"": ErrorMessage(domainErr)}
	}
	return 0, nil
}

// ShowProblems calls show with the problems of a form that err reports. If err is not about the form,
// it is returned.
func ShowProblems(r *Request, err error, show func(r *Request, status int, problems map[string]string) error) error {
	status, problems := FormProblems(err)
	if problems == nil {
		return err
	}
	return show(r, status, problems)
}

// SignInErrorStatus returns 429 or 503 if the user should try again later, and 422 otherwise. After
// 422 and 401, browsers don't offer to save the password.
func SignInErrorStatus(rejected *auth.SignInError) int {
	switch rejected.Reason {
	case auth.TooManyAttempts:
		return http.StatusTooManyRequests
	case auth.TooBusy:
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// ErrorSentence returns the message of an error, or "" if err is an internal error.
func ErrorSentence(err error) string {
	if domainErr, ok := errors.AsType[*errs.Error](err); ok {
		return ErrorMessage(domainErr)
	}
	return ""
}

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
