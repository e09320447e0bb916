package secret

import (
	"strings"
	"testing"
)

func TestIsWeakPassword(t *testing.T) {
	for _, row := range []struct {
		password string
		weak     bool
	}{
		{"1q2w3e4r5t", true},
		{"correct horse battery staple 42", false},
		{"a long walk to the courthouse", false},
		{"password to the old barn", false},
		{"4915 8827 3316 0042", false},
		{"xK9#mQ2$vL", false},
		{"blue kite 77", false},
		{"été à la plage", false},
		{"東京都港区芝公園", false},
		{"password12", true},
		{"Password2026!", true},
		{"P@$$w0rd!!!!", true},
		{"passwordpassword", true},
		{"qwertyuiop", true},
		{"1qaz2wsx3edc", true},
		{"zxcvbnm,./12", true},
		{"Welcome2026", true},
		{"football99", true},
		{"1234567890", true},
		{"0987654321", true},
		{"8274619035", true},
		{"12/25/1985", true},
		{"abcdefghijkl", true},
		{"zyxwvutsrq", true},
		{"aaaaaaaaaa", true},
		{"abababababab", true},
		{"xK9#xK9#xK9#xK9#", true},
		{"iloveyou2!", true},
		{"!@#$%^&*()", true},
		{"deedkeep-2026", true},
		{"kim lee kim lee", true},
		{"KimLee2026!!", true},
		{"smithtitle1!", true},
		{strings.Repeat("a", 1024), true},
		{strings.Repeat("p4$$w0rd!1l|", 86)[:1024], true},
		{strings.Repeat("correct horse battery staple 42 ", 32), false},
	} {
		if got := IsWeakPassword(row.password, "Kim Lee", "smithtitle"); got != row.weak {
			t.Errorf("IsWeakPassword(%q) = %v, want %v", row.password, got, row.weak)
		}
	}
}

func FuzzIsWeakPassword(f *testing.F) {
	f.Add("1q2w3e4r5t", "kim")
	f.Add("\xff\x00", "\xff")
	f.Add("ſſſſſſſſſſK", "é è")
	f.Fuzz(func(_ *testing.T, password, word string) { IsWeakPassword(password, word) })
}

// BenchmarkWeak includes the passwords that could take zxcvbn the longest: long ones in
// which many characters replace letters.
func BenchmarkWeak(b *testing.B) {
	for name, password := range map[string]string{
		"phrase": "a long walk to the courthouse", "six exchanged": strings.Repeat("4@1|7!pbc", 100)[:900],
		"letters exchanged": strings.Repeat("4@8({[<369!1|05$+7%2", 52)[:1024], "digits": strings.Repeat("19121985", 128),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				IsWeakPassword(password, "Kim Lee")
			}
		})
	}
}
