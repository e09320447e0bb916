package records

import (
	"net/url"

	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// createRecord creates a record from a form and redirects to it with a notice. If the same form is
// submitted twice, the second request redirects to the record that the first one created. If values
// are invalid, showForm shows the form again.
func createRecord[T any](p *Pages, r *page.Request, notice string, pathOf func(T) string, create func(vault.Idempotency[T]) (T, error),
	showForm func(r *page.Request, status int, form url.Values, rejected map[string]string) error,
) error {
	return page.CreateRecord(p.Site, r, notice, pathOf, create, showForm)
}

// wrongInputs returns the inputs with invalid values, for the list of problems. The first of them gets
// the focus.
func wrongInputs(lists ...[]page.Input) (wrong []page.Input) {
	for _, list := range lists {
		for i := range list {
			if list[i].Problem != "" {
				list[i].Focus = len(wrong) == 0
				wrong = append(wrong, list[i])
			}
		}
	}
	return wrong
}
