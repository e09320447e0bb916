package auth

import (
	"errors"
	"strings"
)

// SignInOutcomes are the values of the sign-in counter: success, a Reason with "_" for
// a space, or a server error.
var SignInOutcomes = []string{
	signInSuccess, outcomeOf(WrongPassword), outcomeOf(CodeNeeded), outcomeOf(WrongCode), outcomeOf(TooManyAttempts),
	outcomeOf(TooBusy), outcomeOf(ChallengeExpired), signInError,
}

const (
	signInSuccess = "success"
	signInError   = "trouble"
)

func outcomeOf(r Reason) string { return strings.ReplaceAll(string(r), " ", "_") }

// SignIns returns how many sign-in attempts had each of SignInOutcomes.
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
