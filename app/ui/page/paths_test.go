package page

import "testing"

func TestIsUnderPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, address, place string
		want                 bool
	}{
		{"itself", "/admin/users", "/admin/users", true},
		{"something in it", "/admin/users/3", "/admin/users", true},
		{"another that begins so", "/admin/users2", "/admin/users", false},
		{"what it is in", "/admin", "/admin/users", false},
		{"everything is under the root", "/me", "/", true},
	} {
		if got := IsUnderPath(c.address, c.place); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// A link to the sign-in page must not lead to another site.
func TestLocalAddress(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/": "/", "/abstracts?status=open#x": "/abstracts?status=open#x", "/a%2Fb": "/a%2Fb",
		"": "/", "x": "/", "//elsewhere.example": "/", "///elsewhere.example": "/", `/\elsewhere.example`: "/", `\\elsewhere.example`: "/",
		"https://elsewhere.example/": "/", "https:elsewhere.example": "/", "javascript:alert(1)": "/", "/\t/elsewhere.example": "/",
		"/\r\nSet-Cookie: a=b": "/", "\t//elsewhere.example": "/", " //elsewhere.example": "/", "http://vault.test@elsewhere.example": "/", "%2f%2felsewhere.example": "/",
	} {
		if got := LocalAddress(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}
