package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

// A second factor is what every authenticator app shows: six digits each 30 seconds
// by HMAC-SHA-1 (RFC 6238), of a secret of 20 bytes.
const (
	totpPeriod = 30
	totpDigits = 6
	totpSecret = 20
	totpSkew   = 1 // steps that a clock may be wrong by, either way
)

var totpOptions = hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

// NewTOTP draws the secret of a second factor: as base32 for people who type it, and
// as the otpauth address that a QR code carries.
func NewTOTP(chance io.Reader, issuer, account string) (secret, address string, err error) {
	raw := make([]byte, totpSecret)
	if _, err := io.ReadFull(chance, raw); err != nil {
		return "", "", fmt.Errorf("draw a second factor: %w", err)
	}
	// A colon would part what the app shows as the issuer from what it shows as the account.
	clean := func(s string) string { return strings.ReplaceAll(s, ":", " ") }
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: clean(issuer), AccountName: clean(account), Period: totpPeriod, Secret: raw,
		Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1,
	})
	if err != nil {
		return "", "", fmt.Errorf("make a second factor: %w", err)
	}
	return key.Secret(), key.URL(), nil
}

// VerifyTOTP gives the step of a code that is right at the time, a step's wrong clock
// allowed, and later than the last one used: each step's code is taken once.
// Blanks in the code are ignored.
func VerifyTOTP(secret, code string, now time.Time, last uint64) (step uint64, ok bool) {
	code = strings.Join(strings.Fields(code), "")
	if !IsTOTPCode(code) || now.Unix() < totpPeriod*totpSkew {
		return 0, false
	}
	current := uint64(now.Unix()) / totpPeriod
	for at := current - totpSkew; at <= current+totpSkew; at++ {
		right, err := hotp.ValidateCustom(code, at, secret, totpOptions)
		if err == nil && right && at > last {
			return at, true
		}
	}
	return 0, false
}

// totpAhead is how many steps ahead of now the last used one may be.
const totpAhead = 10

// TOTPStepInFuture reports that the last used step of a factor lies further ahead than any
// that can have been used by now: the clock was wrong then, and no code would be right
// until it comes to that step again.
func TOTPStepInFuture(now time.Time, last uint64) bool {
	return now.Unix() >= 0 && last > uint64(now.Unix())/totpPeriod+totpAhead
}

// IsTOTPCode reports a text of the form of a code: six digits, blanks ignored.
func IsTOTPCode(code string) bool {
	code = strings.Join(strings.Fields(code), "")
	return len(code) == totpDigits && strings.Trim(code, "0123456789") == ""
}

// A recovery code is 80 random bits, told once and good once:
//
//	mfqx-2jzl-6a5w-ktgd     lower-case base32 (RFC 4648, section 6) in groups of four
//
// Kept is its HMAC-SHA-256 under the subkey `recovery`, in hex.
const (
	recoveryBytes = 10
	recoveryGroup = 4
)

// NewRecoveryCode makes one.
func NewRecoveryCode(chance io.Reader) (string, error) {
	var raw [recoveryBytes]byte
	if _, err := io.ReadFull(chance, raw[:]); err != nil {
		return "", fmt.Errorf("draw a recovery code: %w", err)
	}
	text := strings.ToLower(base32.StdEncoding.EncodeToString(raw[:]))
	var groups []string
	for at := 0; at < len(text); at += recoveryGroup {
		groups = append(groups, text[at:at+recoveryGroup])
	}
	return strings.Join(groups, "-"), nil
}

// HashRecoveryCode is what is kept of a recovery code, however its letters and
// groups were typed; ok is false for what is none.
func (r *Keys) HashRecoveryCode(code string) (hash string, ok bool) {
	if len(code) > 64 {
		return "", false
	}
	bare := strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	raw, err := base32.StdEncoding.DecodeString(bare)
	if err != nil || len(raw) != recoveryBytes || base32.StdEncoding.EncodeToString(raw) != bare {
		return "", false
	}
	key := r.Subkey("recovery")
	mac := hmac.New(sha256.New, key[:])
	mac.Write(raw)
	return hex.EncodeToString(mac.Sum(nil)), true
}
