package ui

import "net/http"

// desk is the first page: what needs attention.
func (p *pages) desk(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.show(w, r, who, http.StatusOK, "desk.html", page{Heading: "Desk", Section: "desk"})
}
