package vault

import (
	"context"

	"deedkeep/app/store"
	"deedkeep/app/title"
)

// Templates are the verbs on abstract templates.
type Templates struct{ v *Vault }

// List gives the templates that new abstracts may use, in order of their numbers.
func (s *Templates) List(ctx context.Context) (list []title.Template, err error) {
	err = s.v.store.View(ctx, func(t *store.Tx) error {
		all, err := t.Templates()
		for _, template := range all {
			if !template.Retired {
				list = append(list, template)
			}
		}
		return err
	})
	return list, err
}
