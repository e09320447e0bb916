package ui

import (
	"net/http"

	"deedkeep/app/vault"
)

// find leads to the one record that is called exactly so, or shows what may be meant.
func (p *pages) find(w http.ResponseWriter, r *http.Request, who visitor) error {
	found, err := p.Vault.Find(r.Context(), r.URL.Query().Get("q"), vault.MostFound)
	if err != nil {
		return err
	}
	if only, is := found.Only(); is && r.URL.Query().Get("all") == "" {
		redirect(w, r, p.hitPath(only))
		return nil
	}
	heading := "Find"
	if found.Text != "" {
		heading = "Find: " + shorten(found.Text, 80)
	}
	return p.show(w, r, who, http.StatusOK, "find.html", page{Heading: heading, Section: "find", Data: found})
}

// hitPath is where a hit's record is shown.
func (p *pages) hitPath(h vault.Hit) string {
	if h.Noun == "order" {
		return p.orderPath(h.ID)
	}
	return p.abstractPath(h.ID)
}

// byName is what a hit was found by, in words.
func byName(by string) string {
	switch by {
	case "order_number":
		return "Order number"
	case "file_number":
		return "File number"
	case "parcel":
		return "Parcel"
	}
	return "Address"
}
