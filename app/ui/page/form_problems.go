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

// FormProblems returns the problems to show in a form by field, under "" those of the complete
// form. It returns nil for other errors.
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

// SignInErrorStatus returns 429 or 503 if the user should try again later, else 422: as with 401,
// browsers don't offer to save the password then.
func SignInErrorStatus(refused *vault.SignInError) int {
	switch refused.Reason {
	case vault.TooManyTries:
		return http.StatusTooManyRequests
	case vault.TooBusy:
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

// ErrorSentence returns the message of an error, "" for internal errors.
func ErrorSentence(err error) string {
	var named *errs.Error
	if errors.As(err, &named) {
		return Plainly(named.Message)
	}
	return ""
}
