package model

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"deedkeep/app/errs"
)

// The length of a password, in bytes (PROMISES.md, "its length capped").
const (
	MinPasswordLength = 10
	MaxPasswordLength = 1024
)

// CheckPassword applies the rules of a password; how hard it is to guess is judged by
// secret.Weak. It is taken byte by byte as it was typed: nothing is trimmed or normalized.
func CheckPassword(password string) errs.Fields {
	var f validation
	checkPassword(&f, password)
	return f.Fields
}

func checkPassword(f *validation, password string) {
	switch {
	case password == "":
		f.Add("password", required("password"))
	case !utf8.ValidString(password) || strings.ContainsRune(password, 0):
		f.Add("password", badCharacters("password"))
	case len(password) < MinPasswordLength:
		f.Add("password", fmt.Sprintf("The password field must have at least %d characters.", MinPasswordLength))
	case len(password) > MaxPasswordLength:
		f.Add("password", fmt.Sprintf("The password field must not be longer than %d bytes.", MaxPasswordLength))
	}
}
