package auth

import (
	"errors"
	"strings"
)

// SignInOutcomes lists the label values of the sign-in counter: success, each Reason
// (with "_" instead of a space), and server errors.
var SignInOutcomes = []string{
	signInSuccess, outcomeOf(WrongPassword), outcomeOf(CodeNeeded), outcomeOf(WrongCode), outcomeOf(TooManyAttempts),
	outcomeOf(TooBusy), outcomeOf(ChallengeExpired), signInError,
}

const (
	signInSuccess = "success"
	signInError   = "trouble"
)

func outcomeOf(r Reason) string { return strings.ReplaceAll(string(r), " ", "_") }

// SignIns returns the number of sign-in attempts for each of SignInOutcomes.
func (a *Auth) SignIns() map[string]uint64 { return a.signIns.Read() }

func (a *Auth) countSignIn(err error) {
	var rejected *SignInError
	switch {
	case err == nil:
		a.signIns.Add(signInSuccess)
	case errors.As(err, &rejected):
		a.signIns.Add(outcomeOf(rejected.Reason))
	default:
		a.signIns.Add(signInError)
	}
}
