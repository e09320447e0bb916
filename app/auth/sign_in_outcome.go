package auth

import (
	"errors"
	"maps"
	"slices"
)

const (
	signInSuccess = "success"
	signInError   = "error"
)

// signInLabels are the label values of the sign-in counter for rejected sign-ins. They differ from the reasons in the
// audit log, which can't change.
var signInLabels = map[Reason]string{
	WrongPassword: "wrong_password", CodeNeeded: "code_needed", WrongCode: "wrong_code", TooManyAttempts: "too_many_attempts",
	TooBusy: "busy", ChallengeExpired: "expired",
}

// SignInOutcomes lists the label values of the sign-in counter: success, server errors, and each Reason.
var SignInOutcomes = append([]string{signInSuccess, signInError}, slices.Sorted(maps.Values(signInLabels))...)

// SignIns returns the number of sign-in attempts for each of SignInOutcomes.
func (a *Auth) SignIns() map[string]uint64 { return a.signIns.Read() }

func (a *Auth) countSignIn(err error) {
	var rejected *SignInError
	switch {
	case err == nil:
		a.signIns.Add(signInSuccess)
	case errors.As(err, &rejected):
		a.signIns.Add(signInLabels[rejected.Reason])
	default:
		a.signIns.Add(signInError)
	}
}
