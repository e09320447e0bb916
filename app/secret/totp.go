package secret

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"
	"github.com/pquerna/otp/totp"
)

// Verification codes have the format that all authenticator apps support: six digits
// every 30 seconds, computed by HMAC-SHA-1 (RFC 6238) from a secret of 20 bytes.
const (
	totpPeriod = 30
	totpDigits = 6
	totpSecret = 20
	totpSkew   = 1 // tolerated clock error, in time steps in either direction
)

var totpOptions = hotp.ValidateOpts{Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1}

// NewTOTP creates a secret for two-factor authentication. It returns the secret in
// base32, for manual entry, and the otpauth URL to show as a QR code.
func NewTOTP(rand io.Reader, issuer, account string) (secret, address string, err error) {
	raw := make([]byte, totpSecret)
	if _, err := io.ReadFull(rand, raw); err != nil {
		return "", "", fmt.Errorf("generate two-factor secret: %w", err)
	}
	// Authenticator apps split the label at a colon into issuer and account.
	clean := func(s string) string { return strings.ReplaceAll(s, ":", " ") }
	key, err := totp.Generate(totp.GenerateOpts{
		Issuer: clean(issuer), AccountName: clean(account), Period: totpPeriod, Secret: raw,
		Digits: otp.DigitsSix, Algorithm: otp.AlgorithmSHA1,
	})
	if err != nil {
		return "", "", fmt.Errorf("encode two-factor secret: %w", err)
	}
	return key.Secret(), key.URL(), nil
}

// VerifyTOTP returns the time step of a code that is valid now, with a tolerance of one
// step. The step must be later than last, the step of the last used code, so each code is
// accepted only once. Spaces in the code are ignored. ok is false if the code is not
// valid.
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

// maxTOTPStepsAhead is how many steps after the current step the last used step may be.
const maxTOTPStepsAhead = 10

// TOTPStepInFuture reports whether the last used step is too far in the future. This
// means that the clock was wrong when the code was used. VerifyTOTP would reject every
// code until that step.
func TOTPStepInFuture(now time.Time, last uint64) bool {
	return now.Unix() >= 0 && last > uint64(now.Unix())/totpPeriod+maxTOTPStepsAhead
}

// IsTOTPCode reports whether code has the format of a verification code: six digits,
// optionally with spaces.
func IsTOTPCode(code string) bool {
	code = strings.Join(strings.Fields(code), "")
	return len(code) == totpDigits && strings.Trim(code, "0123456789") == ""
}

// A recovery code has 80 random bits. It is shown only once and can be used only once:
//
//	mfqx-2jzl-6a5w-ktgd     lower-case base32 (RFC 4648, section 6) in groups of four
//
// Only its HMAC-SHA-256 with the subkey `recovery` is stored, in hex.
const (
	recoveryBytes = 10
	recoveryGroup = 4
)

// NewRecoveryCode creates a recovery code.
func NewRecoveryCode(rand io.Reader) (string, error) {
	var raw [recoveryBytes]byte
	if _, err := io.ReadFull(rand, raw[:]); err != nil {
		return "", fmt.Errorf("generate recovery code: %w", err)
	}
	text := strings.ToLower(base32.StdEncoding.EncodeToString(raw[:]))
	groups := slices.Collect(slices.Chunk([]byte(text), recoveryGroup))
	return string(bytes.Join(groups, []byte("-"))), nil
}

// HashRecoveryCode returns the stored form of a recovery code. It ignores case and the
// grouping of characters. ok is false if the code is invalid.
func (k *Keys) HashRecoveryCode(code string) (hash string, ok bool) {
	if len(code) > 64 {
		return "", false
	}
	bare := strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	raw, err := base32.StdEncoding.DecodeString(bare)
	if err != nil || len(raw) != recoveryBytes || base32.StdEncoding.EncodeToString(raw) != bare {
		return "", false
	}
	key := k.Subkey("recovery")
	mac := hmac.New(sha256.New, key[:])
	mac.Write(raw)
	return hex.EncodeToString(mac.Sum(nil)), true
}
