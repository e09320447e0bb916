package titlework

import "testing"

// The names of document types are in the middle of a sentence.
func TestTypeText(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		n    int
		want string
	}{
		{"Mortgage", 1, "mortgage"}, {"Mortgage", 2, "mortgages"}, {"Deed of Trust", 2, "deeds of trust"}, {"HOA Lien", 2, "HOA liens"},
		{"Mechanic's Lien", 2, "mechanic's liens"}, {"Lis Pendens", 2, "lis pendens"},
		{"Easement or Right of Way", 2, "Easement or Right of Way"},
		{"UCC/Financing Statement", 1, "UCC/Financing Statement"}, {"", 1, ""},
	} {
		if got := typeText(row.name, row.n); got != row.want {
			t.Errorf("typeText(%q, %d) = %q, want %q", row.name, row.n, got, row.want)
		}
	}
}
