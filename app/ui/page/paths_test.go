package page

import "testing"

func TestIsUnderPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, address, parent string
		want                  bool
	}{
		{"the same path", "/admin/users", "/admin/users", true},
		{"a path below", "/admin/users/3", "/admin/users", true},
		{"another path with the same prefix", "/admin/users2", "/admin/users", false},
		{"the parent", "/admin", "/admin/users", false},
		{"the root", "/me", "/", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := IsUnderPath(c.address, c.parent); got != c.want {
				t.Errorf("IsUnderPath(%q, %q) = %t, want %t", c.address, c.parent, got, c.want)
			}
		})
	}
}

// A link to the sign-in page can't redirect to another site.
func TestLocalAddress(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"/": "/", "/abstracts?status=open#x": "/abstracts?status=open#x", "/a%2Fb": "/a%2Fb",
		"": "/", "x": "/", "//elsewhere.example": "/", "///elsewhere.example": "/", `/\elsewhere.example`: "/", `\\elsewhere.example`: "/",
		"https://elsewhere.example/": "/", "https:elsewhere.example": "/", "javascript:alert(1)": "/", "/\t/elsewhere.example": "/",
		"/\r\nSet-Cookie: a=b": "/", "\t//elsewhere.example": "/", " //elsewhere.example": "/",
		"http://vault.test@elsewhere.example": "/", "%2f%2felsewhere.example": "/",
	} {
		t.Run(to, func(t *testing.T) {
			if got := LocalAddress(to); got != want {
				t.Errorf("LocalAddress(%q) = %q, want %q", to, got, want)
			}
		})
	}
}
