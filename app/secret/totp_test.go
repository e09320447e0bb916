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

// The vectors of RFC 6238, appendix B, for SHA-1; of eight digits the last six.
func TestTOTPVectors(t *testing.T) {
	secret := base32.StdEncoding.EncodeToString([]byte("12345678901234567890"))
	for at, code := range map[int64]string{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130",
	} {
		if step, ok := VerifyTOTP(secret, code, time.Unix(at, 0), 0); !ok || step != uint64(at)/30 {
			t.Errorf("%d: step %d, %v", at, step, ok)
		}
	}
}

func TestTOTPIsTakenOnce(t *testing.T) {
	secret, address, err := NewTOTP(chance(1), "deed:keep", "kim: lee@example.com")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "otpauth" || parsed.Host != "totp" || parsed.Query().Get("secret") != secret || parsed.Query().Get("issuer") != "deed keep" ||
		parsed.Path != "/deed keep:kim  lee@example.com" {
		t.Errorf("%s, %v", address, err)
	}
	now := time.Unix(1_780_000_000, 0)
	code := func(at time.Time) string {
		code, err := totp.GenerateCode(secret, at)
		if err != nil {
			t.Fatal(err)
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
		if step, ok := VerifyTOTP(secret, row.code, now, row.last); step != row.step || ok != row.ok {
			t.Errorf("%s: step %d, %v", name, step, ok)
		}
	}
	if _, ok := VerifyTOTP(secret, code(time.Unix(0, 0)), time.Unix(0, 0), 0); ok {
		t.Error("before there was a step before")
	}
	if _, ok := VerifyTOTP("no base32!", "123456", now, 0); ok {
		t.Error("a damaged secret opens")
	}
	if _, _, err := NewTOTP(noChance{}, "a", "b"); err == nil {
		t.Error("a secret without chance")
	}
}

func TestRecoveryCode(t *testing.T) {
	ring, source := testRing(t), chance(1)
	form := regexp.MustCompile(`^[a-z2-7]{4}(-[a-z2-7]{4}){3}$`)
	seen := map[string]bool{}
	for range 500 {
		code, err := NewRecoveryCode(source)
		hash, ok := ring.HashRecoveryCode(code)
		if err != nil || !form.MatchString(code) || !ok || len(hash) != 64 || seen[hash] {
			t.Fatalf("%q %q %v", code, hash, err)
		}
		seen[hash] = true
		if typed, ok := ring.HashRecoveryCode(" " + strings.ToUpper(strings.ReplaceAll(code, "-", " "))); !ok || typed != hash {
			t.Errorf("%q typed in another way", code)
		}
	}
	other, err := NewKeys(chance(2))
	if err != nil {
		t.Fatal(err)
	}
	here, _ := ring.HashRecoveryCode("aaaa-aaaa-aaaa-aaaa")
	if there, ok := other.HashRecoveryCode("aaaa-aaaa-aaaa-aaaa"); !ok || here == there {
		t.Error("two secrets give one hash")
	}
	for _, none := range []string{"", "123456", "aaaa-aaaa-aaaa", "aaaa-aaaa-aaaa-aaaa-aaaa", "aaaa-aaaa-aaaa-aaa1", strings.Repeat("a", 1000)} {
		if _, ok := ring.HashRecoveryCode(none); ok {
			t.Errorf("%q is accepted", none)
		}
	}
	if _, err := NewRecoveryCode(noChance{}); err == nil {
		t.Error("a code without chance")
	}
}

func FuzzCodes(f *testing.F) {
	ring := testRing(f)
	f.Add("123456", int64(1_780_000_000))
	f.Add("mfqx-2jzl-6a5w-ktgd", int64(0))
	f.Add("", int64(-1))
	f.Fuzz(func(t *testing.T, code string, at int64) {
		if step, ok := VerifyTOTP("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", code, time.Unix(at, 0), 0); ok && (!IsTOTPCode(code) || step == 0) {
			t.Errorf("%q at %d: step %d", code, at, step)
		}
		hash, ok := ring.HashRecoveryCode(code)
		if ok != (hash != "") || ok && IsTOTPCode(code) {
			t.Errorf("%q: %q %v", code, hash, ok)
		}
	})
}

func TestSealed(t *testing.T) {
	ring := testRing(t)
	sealed, err := ring.Encrypt(chance(1), "totp", "user:7", "GEZDGNBVGY3TQOJQ")
	if err != nil || strings.Contains(sealed, "GEZD") {
		t.Fatalf("%q, %v", sealed, err)
	}
	if plain, err := ring.Decrypt("totp", "user:7", sealed); err != nil || plain != "GEZDGNBVGY3TQOJQ" {
		t.Errorf("%q, %v", plain, err)
	}
	if again, err := ring.Encrypt(chance(2), "totp", "user:7", "GEZDGNBVGY3TQOJQ"); err != nil || again == sealed {
		t.Errorf("sealed twice alike: %v", err)
	}
	other, err := NewKeys(chance(9))
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() (string, error){
		"another user":    func() (string, error) { return ring.Decrypt("totp", "user:8", sealed) },
		"another purpose": func() (string, error) { return ring.Decrypt("other", "user:7", sealed) },
		"another secret":  func() (string, error) { return other.Decrypt("totp", "user:7", sealed) },
		"empty":           func() (string, error) { return ring.Decrypt("totp", "user:7", "") },
		"short":           func() (string, error) { return ring.Decrypt("totp", "user:7", "AAAA") },
		"no base64":       func() (string, error) { return ring.Decrypt("totp", "user:7", sealed+"=") },
		"a line end":      func() (string, error) { return ring.Decrypt("totp", "user:7", sealed[:9]+"\r"+sealed[9:]) },
	} {
		if plain, err := open(); err == nil {
			t.Errorf("%s: opens as %q", name, plain)
		}
	}
	for i := range sealed {
		changed := sealed[:i] + string("AB"[bool2int(sealed[i] == 'A')]) + sealed[i+1:]
		if _, err := ring.Decrypt("totp", "user:7", changed); err == nil {
			t.Errorf("character %d changed: it opens", i)
		}
	}
	if _, err := ring.Encrypt(noChance{}, "totp", "user:7", "x"); err == nil {
		t.Error("a nonce without chance")
	}
}

func FuzzUnseal(f *testing.F) {
	ring := testRing(f)
	sealed, err := ring.Encrypt(chance(1), "totp", "user:7", "GEZDGNBVGY3TQOJQ")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add("AAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ring.Decrypt("totp", "user:7", text); err == nil && text != sealed {
			t.Errorf("%q opens", text)
		}
	})
}

func bool2int(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A step that a clock ahead of time has used is void; one that may have been is not.
func TestStepAhead(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	current := uint64(now.Unix()) / totpPeriod
	for _, row := range []struct {
		last uint64
		want bool
	}{{0, false}, {current, false}, {current + totpSkew, false}, {current + totpAhead, false}, {current + totpAhead + 1, true}, {current * 2, true}} {
		if got := TOTPStepInFuture(now, row.last); got != row.want {
			t.Errorf("%d: %v", row.last, got)
		}
	}
}
