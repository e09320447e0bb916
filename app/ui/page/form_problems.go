package page

import (
	"errors"
	"net/http"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

func FieldProblems(fields errs.Fields) map[string]string {
	found := map[string]string{}
	for _, f := range fields {
		found[f.Field] = Plainly(strings.Join(f.Sentences, " "))
	}
	return found
}

// FormProblems is what a form says beside its fields, and under "" at its head; nil for an
// error that is none of the form's.
func FormProblems(err error) (status int, said map[string]string) {
	var busy *vault.SignInError
	if errors.As(err, &busy) {
		return SignInErrorStatus(busy), map[string]string{"": busy.Error()}
	}
	named, ok := errors.AsType[*errs.Error](err)
	switch {
	case !ok:
	case named.Kind == errs.Invalid && len(named.Fields) > 0:
		return http.StatusUnprocessableEntity, FieldProblems(named.Fields)
	case named.Kind == errs.Invalid, named.Kind == errs.Conflict:
		return errorPages[named.Kind].status, map[string]string{"": Plainly(named.Message)}
	}
	return 0, nil
}

// SignInErrorStatus is 429 or 503 for whoever comes again after a while, and 422 for what
// was wrong: browsers keep a password then as little as they do at 401.
func SignInErrorStatus(refused *vault.SignInError) int {
	switch refused.Reason {
	case vault.TooManyTries:
		return http.StatusTooManyRequests
	case vault.TooBusy:
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// ErrorSentence is the sentence of an error for people.
func ErrorSentence(err error) string {
	var named *errs.Error
	if errors.As(err, &named) {
		return Plainly(named.Message)
	}
	return ""
}
