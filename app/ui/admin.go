package ui

import "net/http"

// admin is what there is to run the service with.
func (p *pages) admin(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.show(w, r, who, http.StatusOK, "admin.html", page{Heading: "Running deedkeep", Section: "admin"})
}
