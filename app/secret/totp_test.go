package secret

import (
	"encoding/base32"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// TestTOTPVectors checks the SHA-1 test vectors of RFC 6238, appendix B, shortened to the
// last six digits.
func TestTOTPVectors(t *testing.T) {
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		if step, ok := VerifyTOTP(secret, code, time.Unix(at, 0), 0); !ok || step != uint64(at)/30 {
			t.Errorf("VerifyTOTP at %d = %d, %v, want step %d", at, step, ok, at/30)
		}
	}
}

func TestTOTPIsAcceptedOnce(t *testing.T) {
	secret, address, err := NewTOTP(testRand(1), "deed:keep", "kim: lee@example.com")
	if err != nil {
		t.Fatalf("NewTOTP: %v", err)
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "otpauth" || parsed.Host != "totp" || parsed.Query().Get("secret") != secret ||
		parsed.Query().Get("issuer") != "deed keep" ||
		parsed.Path != "/deed keep:kim  lee@example.com" {
		t.Errorf("NewTOTP: address = %s, %v, want the secret, the issuer, and the name", address, err)
	}
	now := time.Unix(1_780_000_000, 0)
	code := func(at time.Time) string {
		code, err := totp.GenerateCode(secret, at)
		if err != nil {
			t.Fatalf("GenerateCode: %v", err)
		}
		return code
	}
	current := uint64(now.Unix()) / 30
	for name, row := range map[string]struct {
		code string
		last uint64
		step uint64
		ok   bool
	}{
		"now":              {code(now), 0, current, true},
		"a step before":    {code(now.Add(-30 * time.Second)), 0, current - 1, true},
		"a step after":     {code(now.Add(30 * time.Second)), 0, current + 1, true},
		"two steps before": {code(now.Add(-60 * time.Second)), 0, 0, false},
		"two steps after":  {code(now.Add(60 * time.Second)), 0, 0, false},
		"used":             {code(now), current, 0, false},
		"before the used":  {code(now.Add(-30 * time.Second)), current, 0, false},
		"after the used":   {code(now.Add(30 * time.Second)), current, current + 1, true},
		"with blanks":      {" " + code(now)[:3] + " " + code(now)[3:] + "\n", 0, current, true},
		"empty":            {"", 0, 0, false},
		"five digits":      {code(now)[1:], 0, 0, false},
		"seven digits":     {code(now) + "0", 0, 0, false},
		"other digits":     {"１２３４５６", 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if step, ok := VerifyTOTP(secret, row.code, now, row.last); step != row.step || ok != row.ok {
				t.Errorf("%s: VerifyTOTP = %d, %v, want %d, %v", name, step, ok, row.step, row.ok)
			}
		})
	}
	if _, ok := VerifyTOTP(secret, code(time.Unix(0, 0)), time.Unix(0, 0), 0); ok {
		t.Error("VerifyTOTP before the second step: got ok, want a rejection")
	}
	if _, ok := VerifyTOTP("no base32!", "123456", now, 0); ok {
		t.Error("VerifyTOTP with a damaged secret: got ok, want a rejection")
	}
	if _, _, err := NewTOTP(failingRand{}, "a", "b"); err == nil {
		t.Error("NewTOTP with a failing rand: got no error")
	}
}

func TestRecoveryCode(t *testing.T) {
	keys, source := testKeys(t), testRand(1)
	form := regexp.MustCompile(`^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`)
	seen := map[string]bool{}
	for range 500 {
		code, err := NewRecoveryCode(source)
		hash, ok := keys.HashRecoveryCode(code)
		if err != nil || !form.MatchString(code) || !ok || len(hash) != 64 || seen[hash] {
			t.Fatalf("HashRecoveryCode(%q) = %q, %v, want a new hash of 64 characters", code, hash, err)
		}
		seen[hash] = true
		if typed, ok := keys.HashRecoveryCode(" " + strings.ToUpper(strings.ReplaceAll(code, "-", " "))); !ok || typed != hash {
			t.Errorf("HashRecoveryCode of %q in capitals = %q, %v, want %q", code, typed, ok, hash)
		}
	}
	other, err := NewKeys(testRand(2))
	if err != nil {
		t.Fatalf("NewKeys: %v", err)
	}
	here, _ := keys.HashRecoveryCode("aaaa-aaaa-aaaa-aaaa")
	if there, ok := other.HashRecoveryCode("aaaa-aaaa-aaaa-aaaa"); !ok || here == there {
		t.Error("two secrets hash a recovery code to the same value, want different ones")
	}
	for _, none := range []string{"", "123456", "aaaa-aaaa-aaaa", "aaaa-aaaa-aaaa-aaaa-aaaa", "aaaa-aaaa-aaaa-aaa1",
		strings.Repeat("a", 1000)} {
		if _, ok := keys.HashRecoveryCode(none); ok {
			t.Errorf("HashRecoveryCode(%q): got ok, want it rejected", none)
		}
	}
	if _, err := NewRecoveryCode(failingRand{}); err == nil {
		t.Error("NewRecoveryCode with a failing rand: got no error")
	}
}

func FuzzCodes(f *testing.F) {
	keys := testKeys(f)
	f.Add("123456", int64(1_780_000_000))
	f.Add("mfqx-2jzl-6a5w-ktgd", int64(0))
	f.Add("", int64(-1))
	f.Fuzz(func(t *testing.T, code string, at int64) {
		if step, ok := VerifyTOTP("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", code, time.Unix(at, 0), 0); ok && (!IsTOTPCode(code) || step == 0) {
			t.Errorf("VerifyTOTP(%q) at %d = %d, want a positive step for a six-digit code only", code, at, step)
		}
		hash, ok := keys.HashRecoveryCode(code)
		if ok != (hash != "") || ok && IsTOTPCode(code) {
			t.Errorf("HashRecoveryCode(%q) = %q, %v, want a hash only for a recovery code", code, hash, ok)
		}
	})
}

func TestEncrypt(t *testing.T) {
	keys := testKeys(t)
	encrypted, err := keys.Encrypt(testRand(1), "totp", "user:7", "GEZDGNBVGY3TQOJQ")
	if err != nil || strings.Contains(encrypted, "GEZD") {
		t.Fatalf("Encrypt = %q, %v, want a text without the secret", encrypted, err)
	}
	if plain, err := keys.Decrypt("totp", "user:7", encrypted); err != nil || plain != "GEZDGNBVGY3TQOJQ" {
		t.Errorf("Decrypt = %q, %v, want the secret", plain, err)
	}
	if again, err := keys.Encrypt(testRand(2), "totp", "user:7", "GEZDGNBVGY3TQOJQ"); err != nil || again == encrypted {
		t.Errorf("second Encrypt has the same result: %v", err)
	}
	other, err := NewKeys(testRand(9))
	if err != nil {
		t.Fatalf("NewKeys: %v", err)
	}
	for name, open := range map[string]func() (string, error){
		"another user":    func() (string, error) { return keys.Decrypt("totp", "user:8", encrypted) },
		"another purpose": func() (string, error) { return keys.Decrypt("other", "user:7", encrypted) },
		"another secret":  func() (string, error) { return other.Decrypt("totp", "user:7", encrypted) },
		"empty":           func() (string, error) { return keys.Decrypt("totp", "user:7", "") },
		"short":           func() (string, error) { return keys.Decrypt("totp", "user:7", "AAAA") },
		"no base64":       func() (string, error) { return keys.Decrypt("totp", "user:7", encrypted+"=") },
		"a line end":      func() (string, error) { return keys.Decrypt("totp", "user:7", encrypted[:9]+"\r"+encrypted[9:]) },
	} {
		if plain, err := open(); err == nil {
			t.Errorf("%s: Decrypt = %q, want an error", name, plain)
		}
	}
	for i := range encrypted {
		changed := encrypted[:i] + string("AB"[bool2int(encrypted[i] == 'A')]) + encrypted[i+1:]
		if _, err := keys.Decrypt("totp", "user:7", changed); err == nil {
			t.Errorf("Decrypt with character %d changed: got no error", i)
		}
	}
	if _, err := keys.Encrypt(failingRand{}, "totp", "user:7", "x"); err == nil {
		t.Error("Encrypt with a failing rand: got no error")
	}
}

func FuzzDecrypt(f *testing.F) {
	keys := testKeys(f)
	encrypted, err := keys.Encrypt(testRand(1), "totp", "user:7", "GEZDGNBVGY3TQOJQ")
	if err != nil {
		f.Fatalf("Encrypt: %v", err)
	}
	f.Add(encrypted)
	f.Add("AAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := keys.Decrypt("totp", "user:7", text); err == nil && text != encrypted {
			t.Errorf("Decrypt(%q): got no error", text)
		}
	})
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestTOTPStepInFuture checks that only a step that can't have been used yet is reported
// as too far in the future.
func TestTOTPStepInFuture(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	current := uint64(now.Unix()) / totpPeriod
	for _, row := range []struct {
		last uint64
		want bool
	}{{0, false}, {current, false}, {current + totpSkew, false}, {current + maxTOTPStepsAhead, false},
		{current + maxTOTPStepsAhead + 1, true}, {current * 2, true}} {
		if got := TOTPStepInFuture(now, row.last); got != row.want {
			t.Errorf("TOTPStepInFuture(%d) = %v, want %v", row.last, got, row.want)
		}
	}
}
